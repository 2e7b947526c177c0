#include "diag/kernel.h"

#include <array>

#include "diag/kernels/compute.h"
#include "diag/kernels/matrix.h"
#include "diag/kernels/memory.h"
#include "diag/kernels/reduce.h"
#include "diag/kernels/tensor75.h"
#include "diag/kernels/tensor80.h"
#include "diag/kernels/tensor89.h"
#include "embedded/ptx_compute.h"
#include "embedded/ptx_matrix75.h"
#include "embedded/ptx_matrix80.h"
#include "embedded/ptx_matrix90.h"
#include "embedded/ptx_memory.h"
#include "embedded/ptx_numbers.h"
#include "embedded/ptx_reduce.h"
#include "embedded/ptx_tensor75.h"
#include "embedded/ptx_tensor80.h"
#include "embedded/ptx_tensor89.h"

namespace stoker::diag {
namespace {

constexpr std::array<ModuleRow, static_cast<std::size_t>(Module::count_)> module_rows = {{
#define STOKER_MODULE(name, target, version, since, exact) \
  {#name, target, version, since, (exact) != 0, embedded::ptx_##name},
#include "diag/modules.def"
#undef STOKER_MODULE
}};

constexpr std::array<KernelRow, static_cast<std::size_t>(Kernel::count_)> kernel_rows = {{
#define STOKER_KERNEL_ROW(name, module, args)                                                   \
  {"stoker_" #name, Module::module, sizeof(args), [](const Thread& thread, const void* given) { \
     name(thread, *static_cast<const args*>(given)); /* NOLINT */                               \
   }},
#include "diag/kernels.def"
#undef STOKER_KERNEL_ROW
}};

}  // namespace

const ModuleRow& row_of(Module module) { return module_rows.at(static_cast<std::size_t>(module)); }

bool runs_on(Module module, int compute_capability) {
  const ModuleRow& row = row_of(module);
  return row.exact ? compute_capability == row.since : compute_capability >= row.since;
}

const KernelRow& row_of(Kernel kernel) { return kernel_rows.at(static_cast<std::size_t>(kernel)); }

}  // namespace stoker::diag
