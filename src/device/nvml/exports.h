// Declares every NVML function with C linkage. The simulated library includes this before it
// defines them, so that a definition whose arguments differ from functions.def doesn't compile.
// Nothing else includes it: the reader calls through abi::Functions and links no libnvidia-ml.
#pragma once

#include "device/nvml/functions.h"

namespace stoker::nvml::abi {

extern "C" {
#define STOKER_NVML(result, symbol, arguments, since, need) \
  [[gnu::visibility("default")]] result symbol arguments;
#include "device/nvml/functions.def"
#undef STOKER_NVML
}

}  // namespace stoker::nvml::abi
