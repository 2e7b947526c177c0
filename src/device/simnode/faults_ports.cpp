// Simulated node: the faults of its RDMA ports. They are files below /sys/class/infiniband alone; words as in Linux's
// drivers/infiniband/core/sysfs.c, lines as in drivers/net/ethernet/mellanox/mlx5/core/events.c.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "device/simnode/faults.h"
#include "device/simnode/files.h"
#include "device/simnode/port_files.h"

namespace stoker::simnode {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_counted = 1'000'000'000'000;

std::string device_folder(const std::string& root, const std::string& device) {
  return root + "/sys/class/infiniband/" + device;
}

std::string port_folder(const std::string& root, const std::string& device) {
  return device_folder(root, device) + "/ports/1/";
}

// The first argument, if this node has such a device.
Result<std::string> device_of(const Change& change) {
  const std::string& name = change.request.args[0];
  const auto devices = rdma_devices(change.folder);
  if (std::ranges::find(devices, name) != devices.end()) return name;
  return fail(ErrorCode::invalid_input,
              devices.empty() ? std::string("this node has no RDMA device")
                              : fmt::format("there is no RDMA device '{}'; there are {}", name,
                                            fmt::join(devices, ", ")));
}

// "mlx5_core 0000:1a:00.0: Port module event: module 3, Cable unplugged"
void say_cable(Change& change, const std::string& device, std::string_view what) {
  std::error_code code;
  const auto link = fs::read_symlink(device_folder(change.folder, device) + "/device", code);
  if (code) return;
  const auto devices = rdma_devices(change.folder);
  const auto module = std::ranges::find(devices, device) - devices.begin();
  change.lines.push_back({KernelLevel::info,
                          fmt::format("mlx5_core {}: Port module event: module {}, Cable {}",
                                      link.filename().string(), module, what),
                          std::nullopt});
}

// "400 Gb/sec (4X NDR)" -> "200 Gb/sec (2X NDR)"
std::string half_of(const std::string& rate) {
  unsigned gbps = 0;
  const auto [end, code] = std::from_chars(rate.data(), rate.data() + rate.size(), gbps);
  if (code != std::errc{}) return rate;
  std::string half =
      fmt::format("{}{}", gbps / 2, std::string_view(end, rate.data() + rate.size()));
  if (const auto lanes = half.find("4X"); lanes != std::string::npos) half[lanes] = '2';
  return half;
}

Result<void> add_to(const std::string& file, std::uint64_t number) {
  const auto text = read_file(file);
  if (!text) return fail(text.error());
  const auto value = whole_number<std::uint64_t>(trimmed(*text, " \n")).value_or(0);
  return write_file(file, fmt::format("{}\n", value + number));
}

Result<void> put_back(const std::string& port, const std::string& kept) {
  if (auto written = write_file(port + "state", "4: ACTIVE\n"); !written) return written;
  if (auto written = write_file(port + "phys_state", "5: LinkUp\n"); !written) return written;
  return move_aside(kept, port + "rate");
}

Result<void> take_down(const std::string& port) {
  if (auto written = write_file(port + "state", "1: DOWN\n"); !written) return written;
  if (auto written = write_file(port + "phys_state", "2: Polling\n"); !written) return written;
  return add_to(port + "counters/link_downed", 1);
}

Result<void> slow_down(const std::string& port, const std::string& kept) {
  const auto rate = read_file(exists(kept) ? kept : port + "rate");
  if (!rate) return fail(rate.error());
  if (auto written = write_file(kept, *rate); !written) return written;
  return write_file(port + "rate", half_of(*rate));
}

}  // namespace

std::vector<std::string> rdma_devices(const std::string& root) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(device_folder(root, ""), code), end; !code && at != end;
       at.increment(code)) {
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names, [](const std::string& one, const std::string& other) {
    return std::pair(one.size(), one) < std::pair(other.size(), other);
  });
  return names;
}

Result<void> change_port(const std::string& root, const std::string& aside,
                         const PortChange& change) {
  const std::string port = port_folder(root, change.device);
  const std::string kept = fmt::format("{}/rdma/{}/rate", aside, change.device);
  switch (change.kind) {
    case PortChange::Kind::down: return take_down(port);
    case PortChange::Kind::slow: return slow_down(port, kept);
    case PortChange::Kind::counted: return add_to(port + change.counter, change.number);
    case PortChange::Kind::back: return put_back(port, kept);
  }
  return {};
}

Result<std::string> apply_port_down(Change& change) {
  const auto device = device_of(change);
  if (!device) return fail(device.error());
  change.ports.push_back({.kind = PortChange::Kind::down, .device = *device});
  say_cable(change, *device, "unplugged");
  return *device + " has no link";
}

Result<std::string> apply_port_slow(Change& change) {
  const auto device = device_of(change);
  if (!device) return fail(device.error());
  change.ports.push_back({.kind = PortChange::Kind::slow, .device = *device});
  return *device + " runs at half its rate";
}

Result<std::string> apply_port_up(Change& change) {
  const auto device = device_of(change);
  if (!device) return fail(device.error());
  change.ports.push_back({.kind = PortChange::Kind::back, .device = *device});
  say_cable(change, *device, "plugged");
  return *device + " has its link, at its rate";
}

Result<std::string> apply_port_count(Change& change) {
  const auto device = device_of(change);
  if (!device) return fail(device.error());
  const auto& args = change.request.args;
  const std::string& name = args[1];
  const auto number =
      args.size() < 3 ? Result<std::uint64_t>(1) : parse_number(args[2], "N", 1, most_counted);
  if (!number) return fail(number.error());
  for (const char* group : {"counters/", "hw_counters/"}) {
    const std::string file = group + name;
    const bool plain = name.find('/') == std::string::npos && name != "lifespan";
    if (!plain || name.empty() || !exists(port_folder(change.folder, *device) + file)) continue;
    change.ports.push_back(
        {.kind = PortChange::Kind::counted, .device = *device, .counter = file, .number = *number});
    return fmt::format("{} has counted {} more {}", *device, *number, name);
  }
  return fail(ErrorCode::invalid_input,
              fmt::format("{} has no counter '{}', e.g. symbol_error, link_downed", *device, name));
}

}  // namespace stoker::simnode
