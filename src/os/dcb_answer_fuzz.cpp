// Any bytes as the kernel's answer about Data Center Bridging.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "os/dcb.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto settings = stoker::os::parse_dcb_answer({reinterpret_cast<const char*>(data), size});
  if (!settings) return 0;
  for (const auto& [dscp, priority] : settings->priority_of_dscp) {
    if (dscp >= 64 || priority >= stoker::ethernet_priorities) std::abort();
  }
  return 0;
}
