// Ground stage: one PCI address, three spellings. sysfs says "0000:3b:00.0", NVML
// "00000000:3B:00.0", and Xid lines "PCI:0000:3b:00".
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker {

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  std::uint8_t function = 0;

  // Accepts every spelling above, upper or lower case, "PCI:" in front or not, function or not,
  // and the short "3b:00.0". Anything else is invalid_input that shows the text.
  static Result<PciAddress> parse(std::string_view text);

  [[nodiscard]] std::string sysfs() const;  // "0000:3b:00.0": lower case; what JSON shows
  [[nodiscard]] std::string nvml() const;   // "00000000:3B:00.0": what dcgm-exporter shows
  [[nodiscard]] std::string xid() const;    // "PCI:0000:3b:00": what the kernel log shows

  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

}  // namespace stoker
