// Diag stage: NCCL, where it is installed: what the vendor's all-reduce makes of the same arrays. Never needed. Declared by
// ourselves (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html; numbers of enums: nccl.h).
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/collectives.h"
#include "diag/cuda_driver.h"

namespace stoker::diag {

// One card as NCCL is told of it.
struct NcclRank {
  int device = 0;  // as the CUDA driver counts
  CudaStream stream = nullptr;
  std::function<Result<void>()> enter;  // makes its context the current one
};

// Loads libnccl.so.2 (or `path`) from the loader's path and starts it for these cards. not_supported: it is not installed,
// lacks a function or does not start, which is its environment's matter as a rule: there is nothing to compare with then.
Result<std::unique_ptr<Collectives>> open_nccl(std::vector<NcclRank> ranks,
                                               const std::string& path = "");

// "NCCL 2.28.9" of what ncclGetVersion tells: 22809, and 2804 of 2.8.4 (nccl.h, NCCL_VERSION).
std::string nccl_version_text(int version);

}  // namespace stoker::diag
