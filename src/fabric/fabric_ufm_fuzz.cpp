// Any bytes as UFM's list of ports: read or refused; what is read is judged, and can be saved.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fabric/judge.h"
#include "fabric/sweep_file.h"
#include "fabric/ufm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fabric = stoker::fabric;
  const auto sweep = fabric::read_ufm_ports({reinterpret_cast<const char*>(data), size});
  if (!sweep) {
    if (sweep.error().message().empty()) std::abort();
    return 0;
  }
  if (!fabric::read_sweep(fabric::write_sweep(*sweep))) std::abort();
  (void)fabric::judge(*sweep, nullptr, &*sweep);
  return 0;
}
