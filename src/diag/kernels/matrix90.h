// Diag stage, kernels: the shape of the product on Hopper, which its launch has to know.
#pragma once

#include "diag/kernels/matrix.h"

namespace stoker::diag {

inline constexpr uint32_t matrix90_rows = 128;
inline constexpr uint32_t matrix90_columns = 256;
inline constexpr uint32_t matrix90_depth = 64;
inline constexpr uint32_t matrix90_stages_count = 4;
inline constexpr uint32_t matrix90_threads = 384;
// Stages, their barriers, and what aligning to 1024 bytes may cost.
inline constexpr uint32_t matrix90_shared_bytes =
    matrix90_stages_count * ((matrix90_rows + matrix90_columns) * matrix90_depth * 2 + 16) + 1024;

}  // namespace stoker::diag
