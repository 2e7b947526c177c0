// The one list of NVML prototypes (functions.def) as types: what the reader resolves with dlsym and
// what the simulated library exports are checked against the same rows. Stage: device.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "device/nvml/declarations.h"
#include "device/nvml/events.h"
#include "device/nvml/gpm.h"
#include "device/nvml/mig.h"

namespace stoker::nvml::abi {

/// Why a function is in the list.
enum class Need {
  required,  ///< a library without it is refused
  reading,   ///< a reading has no source without it: null is "not supported"
  acting,    ///< changes the machine: resolved by executors only, never by the probe
  compat,    ///< not called by us; the simulated library exports it for other programs
};

/// One pointer for each function, named as its symbol; null where the library lacks it.
struct Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define STOKER_NVML(result, symbol, arguments, since, need) result(*symbol) arguments = nullptr;
#include "device/nvml/functions.def"
#undef STOKER_NVML
};

struct FunctionRow {
  std::string_view symbol;  ///< ends in a zero byte, so data() may go to dlsym
  int since_driver;         ///< branch; 450 also means "before"
  Need need;
  std::size_t offset;  ///< of its pointer in Functions
};

inline constexpr FunctionRow function_row_array[] = {
#define STOKER_NVML(result, symbol, arguments, since, need) \
  {#symbol, since, Need::need, offsetof(Functions, symbol)},
#include "device/nvml/functions.def"
#undef STOKER_NVML
};

[[nodiscard]] constexpr std::span<const FunctionRow> function_rows() { return function_row_array; }

static_assert(sizeof(Functions) == std::size(function_row_array) * sizeof(void (*)()));

}  // namespace stoker::nvml::abi
