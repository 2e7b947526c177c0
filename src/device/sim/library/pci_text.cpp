#include "device/sim/library/pci_text.h"

#include <charconv>
#include <cstdio>

namespace stoker::sim {
namespace {

// Takes the hexadecimal number before `end` off the front of `text`.
std::optional<std::uint32_t> take_hex(std::string_view& text, char end) {
  const std::size_t length = text.find(end);
  if (length == std::string_view::npos || length == 0) return std::nullopt;
  std::uint32_t value = 0;
  const char* last = text.data() + length;
  const auto [stopped, error] = std::from_chars(text.data(), last, value, 16);
  if (error != std::errc{} || stopped != last) return std::nullopt;
  text.remove_prefix(length + 1);
  return value;
}

}  // namespace

std::optional<BusAddress> parse_bus_id(std::string_view text) {
  BusAddress address;
  if (text.find(':') != text.rfind(':')) {
    const auto domain = take_hex(text, ':');
    if (!domain) return std::nullopt;
    address.domain = *domain;
  }
  const auto bus = take_hex(text, ':');
  const auto device = bus ? take_hex(text, '.') : std::nullopt;
  if (!device || text.empty()) return std::nullopt;
  address.bus = *bus;
  address.device = *device;
  return address;
}

void write_bus_id(const BusAddress& address, char (&out)[pci_bus_id_size]) {
  std::snprintf(out, sizeof out, "%08X:%02X:%02X.0", address.domain, address.bus & 0xFFU,
                address.device & 0xFFU);
}

// A domain of all ones came as seven digits from 580.159.04 (four H200 in a VM): that is what fits.
void write_legacy_bus_id(const BusAddress& address, char (&out)[pci_bus_id_legacy_size]) {
  std::snprintf(out, sizeof out, "%04X:%02X:%02X.0", address.domain & 0xFFFFFFFU,
                address.bus & 0xFFU, address.device & 0xFFU);
}

}  // namespace stoker::sim
