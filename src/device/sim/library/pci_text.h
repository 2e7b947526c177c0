// Simulated library: PCI addresses in NVML's spelling.
#pragma once

#include <optional>

#include "device/sim/library/function.h"

namespace stoker::sim {

struct BusAddress {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  friend bool operator==(const BusAddress&, const BusAddress&) = default;
};

/// Reads "0000:3b:00.0", "00000000:3B:00.0" and "3b:00.0".
[[nodiscard]] std::optional<BusAddress> parse_bus_id(std::string_view text);

/// "00000000:3B:00.0".
void write_bus_id(const BusAddress& address, char (&out)[pci_bus_id_size]);
/// "0000:3B:00.0".
void write_legacy_bus_id(const BusAddress& address, char (&out)[pci_bus_id_legacy_size]);

}  // namespace stoker::sim
