#include "model/pci_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace stoker {
namespace {

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto slash = std::min(text.find('/'), text.size());
    if (slash > 0) parts.push_back(text.substr(0, slash));
    text.remove_prefix(std::min(slash + 1, text.size()));
  }
  return parts;
}

template <typename Number>
bool read_hex(std::string_view text, Number& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return code == std::errc{} && end == text.data() + text.size();
}

// "pci0000:15"
bool read_root(std::string_view part, PciPath& path) {
  const auto colon = part.find(':');
  if (!part.starts_with("pci") || colon == std::string_view::npos) return false;
  return read_hex(part.substr(3, colon - 3), path.root_domain) &&
         read_hex(part.substr(colon + 1), path.root_bus);
}

// How many bridges, counted from the host bridge, the two have in common.
std::size_t shared_bridges(const PciPath& one, const PciPath& other) {
  const auto [first, second] = std::ranges::mismatch(one.bridges, other.bridges);
  return static_cast<std::size_t>(first - one.bridges.begin());
}

}  // namespace

Result<PciPath> PciPath::parse(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::invalid_input, fmt::format("'{}' is no path of a PCI device", text));
  };
  PciPath path;
  bool has_root = false;
  std::vector<PciAddress> below;
  for (const std::string_view part : parts_of(text)) {
    if (PciPath root; read_root(part, root)) {
      path = std::move(root);
      has_root = true;
      below.clear();
    } else if (has_root) {
      const auto address = PciAddress::parse(part);
      if (!address) return bad();
      below.push_back(*address);
    }
  }
  if (below.empty()) return bad();
  path.device = below.back();
  below.pop_back();
  path.bridges = std::move(below);
  return path;
}

std::string PciPath::root() const { return fmt::format("pci{:04x}:{:02x}", root_domain, root_bus); }

std::string PciPath::sysfs() const {
  std::string text = "/sys/devices/" + root();
  for (const PciAddress& bridge : bridges) text += "/" + bridge.sysfs();
  return text + "/" + device.sysfs();
}

const char* to_string(PcieDistance distance) {
  switch (distance) {
    case PcieDistance::self: return "X";
    case PcieDistance::pix: return "PIX";
    case PcieDistance::pxb: return "PXB";
    case PcieDistance::phb: return "PHB";
    case PcieDistance::node: return "NODE";
    case PcieDistance::sys: return "SYS";
  }
  return "SYS";
}

PcieDistance distance(const PciPath& one, int one_numa, const PciPath& other, int other_numa) {
  if (one.device == other.device) return PcieDistance::self;
  if (one.root_domain != other.root_domain || one.root_bus != other.root_bus) {
    return one_numa == other_numa ? PcieDistance::node : PcieDistance::sys;
  }
  const std::size_t shared = shared_bridges(one, other);
  if (shared == 0) return PcieDistance::phb;
  // A switch shows as one bridge up and one down for each port: below the shared one, two devices of
  // one switch have a port each, and two functions of one device have nothing.
  const std::size_t longest = std::max(one.bridges.size(), other.bridges.size());
  return longest - shared <= 1 ? PcieDistance::pix : PcieDistance::pxb;
}

}  // namespace stoker
