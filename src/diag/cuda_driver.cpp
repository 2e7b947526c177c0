#include "diag/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>

namespace stoker::diag {
namespace {

template <typename Function>
bool resolve(void* library, const char* symbol, Function& function) {
  void* const address = ::dlsym(library, symbol);
  std::memcpy(&function, &address, sizeof address);
  return address != nullptr;
}

ErrorCode code_of_cuda(CudaResult result) {
  switch (result) {
    case cuda::out_of_memory: return ErrorCode::unavailable;
    case cuda::no_device: return ErrorCode::not_found;
    case cuda::device_unavailable:
    case cuda::not_permitted: return ErrorCode::no_permission;
    case cuda::no_binary_for_gpu:
    case cuda::unsupported_ptx_version:
    case cuda::not_supported: return ErrorCode::not_supported;
    default: return ErrorCode::io;
  }
}

}  // namespace

Result<CudaDriver> CudaDriver::open(const std::string& path) {
  CudaDriver driver;
  const std::string name = path.empty() ? "libcuda.so.1" : path;
  driver.library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (driver.library_ == nullptr) {
    const char* const why = ::dlerror();
    return fail(
        ErrorCode::not_found,
        fmt::format("the CUDA driver can't be loaded ({}); it comes with the NVIDIA driver, and a "
                    "container "
                    "gets it from NVIDIA's runtime with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                    why == nullptr ? name : why));
  }
#define STOKER_CUDA(symbol, arguments)                                    \
  if (!resolve(driver.library_, #symbol, driver.functions_.symbol)) {     \
    return fail(ErrorCode::not_supported,                                 \
                name + " has no " #symbol ": a driver before CUDA 11.0"); \
  }
#include "diag/cuda_functions.def"
#undef STOKER_CUDA
  if (const auto result = driver.functions_.cuInit(0); result != 0) {
    return fail(driver.error(result, "start the CUDA driver"));
  }
  driver.functions_.cuDriverGetVersion(&driver.version_);
  return driver;
}

void* CudaDriver::find(const char* symbol) const { return ::dlsym(library_, symbol); }

Error CudaDriver::error(CudaResult result, const std::string& what) const {
  const char* name = nullptr;
  const char* text = nullptr;
  functions_.cuGetErrorName(result, &name);
  functions_.cuGetErrorString(result, &text);
  return {code_of_cuda(result),
          fmt::format("{}: {} ({})", what, name == nullptr ? std::to_string(result) : name,
                      text == nullptr ? "unknown to this driver" : text)};
}

}  // namespace stoker::diag
