#include "os/node_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "os/sysfs_text.h"

namespace stoker::os {
namespace {

constexpr const char* pci_devices = "/sys/bus/pci/devices";
constexpr const char* rdma_devices = "/sys/class/infiniband";
constexpr std::string_view vendor_nvidia = "0x10de";  // PCI ID database
constexpr std::string_view class_display = "0x03";  // PCI base class 03h; 0302h is "3D controller"
constexpr std::size_t most_nics = 256;              // more than any node has; bounds what is kept

std::optional<PciPlace> place_of(const Env& env, const PciAddress& pci) {
  const std::string folder = fmt::format("{}/{}", pci_devices, pci.sysfs());
  const auto link = env.read_link(folder);
  if (!link) return std::nullopt;
  auto path = PciPath::parse(*link);
  if (!path) return std::nullopt;
  PciPlace place{.path = std::move(*path)};
  const std::string node = sysfs_line(env, folder + "/numa_node");
  std::from_chars(node.data(), node.data() + node.size(), place.numa_node);
  place.local_cpus = sysfs_line(env, folder + "/local_cpulist");
  return place;
}

// Not there means that the kernel has no such devices, and is no problem.
std::vector<std::string> names_in(const Env& env, const char* folder, std::string& problem) {
  auto names = env.list_folder(folder);
  if (names) return std::move(*names);
  if (names.error().code() != ErrorCode::not_found) problem = names.error().describe();
  return {};
}

// "400 Gb/sec (4X NDR)" (rate_show)
std::optional<double> rate_of(const std::string& text) {
  double rate = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (code != std::errc{} || rate <= 0) return std::nullopt;
  return rate;
}

NicInfo read_nic(const Env& env, const std::string& name) {
  const std::string folder = fmt::format("{}/{}", rdma_devices, name);
  NicInfo nic{.name = name};
  if (const auto pci = PciAddress::parse(sysfs_link(env, folder + "/device"))) nic.pci = *pci;
  if (nic.pci) nic.place = place_of(env, *nic.pci);
  const std::string port = folder + "/ports/1/";
  nic.link_layer = sysfs_line(env, port + "link_layer");
  nic.port_state = word_after_number(sysfs_line(env, port + "state"));
  nic.rate_gbps = rate_of(sysfs_line(env, port + "rate"));
  return nic;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Takes the number at the front of `text` away.
std::string_view take_digits(std::string_view& text) {
  const auto* end = std::ranges::find_if_not(text, is_digit);
  auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

bool natural_less(std::string_view one, std::string_view other) {
  while (!one.empty() && !other.empty()) {
    if (is_digit(one.front()) && is_digit(other.front())) {
      const auto left = take_digits(one);
      const auto right = take_digits(other);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else {
      if (one.front() != other.front()) return one.front() < other.front();
      one.remove_prefix(1);
      other.remove_prefix(1);
    }
  }
  return one.empty() && !other.empty();
}

NodeDevices read_node_devices(const Env& env) {
  NodeDevices devices;
  for (const std::string& name : names_in(env, pci_devices, devices.gpus_problem)) {
    const std::string folder = fmt::format("{}/{}", pci_devices, name);
    if (sysfs_line(env, folder + "/vendor") != vendor_nvidia) continue;
    if (!sysfs_line(env, folder + "/class").starts_with(class_display)) continue;
    const auto pci = PciAddress::parse(name);
    const auto place = pci ? place_of(env, *pci) : std::nullopt;
    if (place) devices.gpus.emplace(*pci, *place);
  }
  auto names = names_in(env, rdma_devices, devices.nics_problem);
  std::ranges::sort(names, natural_less);
  if (names.size() > most_nics) {
    devices.nics_problem =
        fmt::format("{} RDMA devices; the first {} are shown", names.size(), most_nics);
    names.resize(most_nics);
  }
  devices.nics.reserve(names.size());
  for (const std::string& name : names) devices.nics.push_back(read_nic(env, name));
  return devices;
}

}  // namespace stoker::os
