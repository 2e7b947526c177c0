// Simulation: what NVML's functions are called.
#pragma once

#include <array>
#include <string_view>

namespace stoker::simnode {

inline constexpr auto function_names = std::to_array<std::string_view>({
#define STOKER_NVML(result, name, ...) #name,
#include "device/nvml/functions.def"
#undef STOKER_NVML
});

}  // namespace stoker::simnode
