// Diag stage: the kernels and the modules of PTX that they are in, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "diag/kernels/thread.h"

namespace stoker::diag {

enum class Module : std::uint8_t {
#define STOKER_MODULE(name, target, version, since, exact) name,
#include "diag/modules.def"
#undef STOKER_MODULE
  count_
};

struct ModuleRow {
  std::string_view name;
  std::string_view target;   // "sm_75"
  std::string_view version;  // of PTX, "6.3"
  int since = 0;             // compute capability, 75 for 7.5
  bool exact = false;        // runs on `since` alone
  std::string_view (*text)();
};

const ModuleRow& row_of(Module module);
// Can a card of this compute capability run it?
bool runs_on(Module module, int compute_capability);

enum class Kernel : std::uint8_t {
#define STOKER_KERNEL_ROW(name, module, args) name,
#include "diag/kernels.def"
#undef STOKER_KERNEL_ROW
  count_
};

struct KernelRow {
  const char* symbol = nullptr;  // in the module
  Module module = Module::memory;
  std::size_t args_size = 0;
  void (*body)(const Thread& thread,
               const void* args) = nullptr;  // the same, compiled for the host
};

const KernelRow& row_of(Kernel kernel);

}  // namespace stoker::diag
