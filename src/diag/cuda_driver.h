// Diag stage: the CUDA driver, found at run time and declared by ourselves, so that neither building nor running needs a
// toolkit. Names and numbers are those of the CUDA Driver API (https://docs.nvidia.com/cuda/cuda-driver-api/).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace stoker::diag {

using CudaResult = int;  // CUresult
using CudaDevice = int;
using CudaAddress = std::uint64_t;  // CUdeviceptr
using CudaContext = struct CudaContextState*;
using CudaStream = struct CudaStreamState*;
using CudaEvent = struct CudaEventState*;
using CudaModule = struct CudaModuleState*;
using CudaFunction = struct CudaFunctionState*;
using CudaUuid = std::array<unsigned char, 16>;

namespace cuda {
// CUresult
inline constexpr CudaResult out_of_memory = 2;
inline constexpr CudaResult no_device = 100;
inline constexpr CudaResult device_unavailable = 46;
inline constexpr CudaResult no_binary_for_gpu = 209;
inline constexpr CudaResult unsupported_ptx_version = 222;
inline constexpr CudaResult peer_access_already_enabled = 704;
inline constexpr CudaResult not_permitted = 800;
inline constexpr CudaResult not_supported = 801;
// CUdevice_attribute
inline constexpr int multiprocessor_count = 16;
inline constexpr int capability_major = 75;
inline constexpr int capability_minor = 76;
inline constexpr int shared_bytes_of_block = 97;  // ..._MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
// CUfunction_attribute
inline constexpr int function_shared_bytes = 8;  // ..._MAX_DYNAMIC_SHARED_SIZE_BYTES
// CUstream_flags, CUmemhostalloc
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned host_portable = 1;
// CUjit_option
inline constexpr int jit_error_log = 5;
inline constexpr int jit_error_log_bytes = 6;
// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
inline constexpr int tensor_bfloat16 = 9;
inline constexpr int tensor_swizzle_128 = 3;
inline constexpr int tensor_l2_256 = 3;
// CUlaunchAttributeID
inline constexpr int launch_cluster = 4;
}  // namespace cuda

// CUlaunchAttribute and CUlaunchConfig.
struct CudaLaunchAttribute {
  int id = 0;
  std::array<char, 4> unused{};
  std::array<std::uint32_t, 16> value{};
};
struct CudaLaunchConfig {
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  CudaStream stream = nullptr;
  CudaLaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(CudaLaunchAttribute) == 72 && sizeof(CudaLaunchConfig) == 56);

struct CudaFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define STOKER_CUDA(name, arguments) CudaResult(*name) arguments = nullptr;
#include "diag/cuda_functions.def"
#undef STOKER_CUDA
};

class CudaDriver {
 public:
  // Loads libcuda.so.1 (or `path`) and starts it, once a process: a fork afterwards can't use it. not_found: no library,
  // or no card; not_supported: it lacks a function.
  static Result<CudaDriver> open(const std::string& path = "");

  [[nodiscard]] const CudaFunctions& calls() const { return functions_; }
  [[nodiscard]] int version() const { return version_; }  // 13000 for CUDA 13.0
  // A function that older drivers lack; nullptr then.
  [[nodiscard]] void* find(const char* symbol) const;

  // What the driver says of `result`, as the error of `what`: "load module x: CUDA_ERROR_INVALID_PTX (…)".
  [[nodiscard]] Error error(CudaResult result, const std::string& what) const;
  [[nodiscard]] Result<void> checked(CudaResult result, const char* what) const {
    if (result == 0) return {};
    return fail(error(result, what));
  }

 private:
  void* library_ = nullptr;  // never closed
  CudaFunctions functions_;
  int version_ = 0;
};

}  // namespace stoker::diag
