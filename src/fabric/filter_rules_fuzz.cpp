// Any bytes as what nft and iptables-save print: read, and walked to the end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fabric/roce_ports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto look = stoker::fabric::look_at_filter(text, {}, text, {});
  for (const auto& drop : look.drops) {
    if (drop.chain.empty()) std::abort();
  }
  return 0;
}
