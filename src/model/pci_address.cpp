#include "model/pci_address.h"

#include <fmt/format.h>

#include <charconv>

namespace stoker {
namespace {

// Reads 1..max_digits hex digits from the front of `text`; false if there are none or too many.
bool take_hex(std::string_view& text, std::size_t max_digits, std::uint32_t& out) {
  std::size_t n = 0;
  while (n < text.size() && std::isxdigit(static_cast<unsigned char>(text[n])) != 0) ++n;
  if (n == 0 || n > max_digits) return false;
  std::from_chars(text.data(), text.data() + n, out, 16);
  text.remove_prefix(n);
  return true;
}

bool take_char(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Result<PciAddress> PciAddress::parse(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::invalid_input,
                fmt::format("'{}' is no PCI address; write it like 0000:3b:00.0", text));
  };
  std::string_view rest = text;
  if (rest.starts_with("PCI:")) rest.remove_prefix(4);
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t third = 0;
  std::uint32_t function = 0;
  if (!take_hex(rest, 8, first) || !take_char(rest, ':') || !take_hex(rest, 2, second)) {
    return bad();
  }
  const bool has_domain = take_char(rest, ':');
  if (has_domain && !take_hex(rest, 2, third)) return bad();
  if (take_char(rest, '.') && !take_hex(rest, 1, function)) return bad();
  if (!rest.empty() || function > 7) return bad();

  const std::uint32_t bus = has_domain ? second : first;
  const std::uint32_t device = has_domain ? third : second;
  if (bus > 0xff || device > 0x1f) return bad();
  return PciAddress{has_domain ? first : 0, static_cast<std::uint8_t>(bus),
                    static_cast<std::uint8_t>(device), static_cast<std::uint8_t>(function)};
}

std::string PciAddress::sysfs() const {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}
std::string PciAddress::nvml() const {
  return fmt::format("{:08X}:{:02X}:{:02X}.{:X}", domain, bus, device, function);
}
std::string PciAddress::xid() const {
  return fmt::format("PCI:{:04x}:{:02x}:{:02x}", domain, bus, device);
}

}  // namespace stoker
