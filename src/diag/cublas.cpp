#include "diag/cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>

namespace stoker::diag {
namespace {

constexpr int transposed = 1;  // CUBLAS_OP_T
constexpr int as_it_is = 0;    // CUBLAS_OP_N
constexpr int type_fp16 = 2;   // CUDA_R_16F
constexpr int type_bf16 = 14;  // CUDA_R_16BF
constexpr int sums_fp32 = 68;  // CUBLAS_COMPUTE_32F
constexpr int algorithm = -1;  // CUBLAS_GEMM_DEFAULT

template <typename Function>
bool resolve_cublas(void* library, const char* symbol, Function& function) {
  void* const address = ::dlsym(library, symbol);
  std::memcpy(&function, &address, sizeof address);
  return address != nullptr;
}

}  // namespace

Result<Cublas> Cublas::open(CudaStream stream) {
  void* library = nullptr;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}) {
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return fail(ErrorCode::not_supported,
                "cuBLAS is not on the loader's path, so there is nothing to compare with");
  }
  Cublas out;
  int (*create)(void**) = nullptr;
  int (*set_stream)(void*, CudaStream) = nullptr;
  if (!resolve_cublas(library, "cublasCreate_v2", create) ||
      !resolve_cublas(library, "cublasSetStream_v2", set_stream) ||
      !resolve_cublas(library, "cublasDestroy_v2", out.destroy_) ||
      !resolve_cublas(library, "cublasGemmEx", out.multiply_)) {
    return fail(ErrorCode::not_supported,
                "this cuBLAS lacks a function that has been there since 11.0");
  }
  if (const int status = create(&out.handle_); status != 0) {
    // Of another CUDA version than the driver, say: not the card's fault, and no "nothing to test".
    return fail(ErrorCode::not_found, fmt::format("cuBLAS does not start: status {}", status));
  }
  set_stream(out.handle_, stream);
  return out;
}

// cuBLAS counts by columns: its m x n product by columns is our n x m one by rows.
Result<void> Cublas::multiply(const MatrixArgs& args) const {
  const float one = 1;
  const float zero = 0;
  const int type = args.half != 0 ? type_fp16 : type_bf16;
  const auto m = static_cast<int>(args.m);
  const auto n = static_cast<int>(args.n);
  const auto k = static_cast<int>(args.k);
  const int status = multiply_(handle_, transposed, as_it_is, n, m, k, &one, args.b, type, k,
                               args.a, type, k, &zero, args.c, type, n, sums_fp32, algorithm);
  if (status == 0) return {};
  return fail(ErrorCode::io, fmt::format("cuBLAS: status {}", status));
}

}  // namespace stoker::diag
