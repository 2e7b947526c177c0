// Diag stage: cuBLAS, where it is installed: what the vendor makes of the same arrays. Never needed. Declared by
// ourselves (https://docs.nvidia.com/cuda/cublas/).
#pragma once

#include <utility>

#include "base/result.h"
#include "diag/cuda_driver.h"
#include "diag/kernels/matrix.h"

namespace stoker::diag {

class Cublas {
 public:
  // For the context that is current, its work in `stream`. not_supported: it is not installed; io: it does not start.
  static Result<Cublas> open(CudaStream stream);
  Cublas(Cublas&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        multiply_(other.multiply_),
        destroy_(other.destroy_) {}
  Cublas& operator=(Cublas&&) = delete;
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas() {
    if (handle_ != nullptr) destroy_(handle_);
  }

  // C = A * B^T as kernels/matrix.h says; sums in fp32.
  Result<void> multiply(const MatrixArgs& args) const;

 private:
  Cublas() = default;
  // cublasGemmEx: numbers of operations, data types and sums are the enums of the reference.
  using Multiply = int (*)(void* handle, int transpose_a, int transpose_b, int m, int n, int k,
                           const void* alpha, const void* a, int type_a, int lead_a, const void* b,
                           int type_b, int lead_b, const void* beta, void* c, int type_c,
                           int lead_c, int sums, int algorithm);

  void* handle_ = nullptr;
  Multiply multiply_ = nullptr;
  int (*destroy_)(void*) = nullptr;
};

}  // namespace stoker::diag
