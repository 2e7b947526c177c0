#include "os/roce_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "os/dcb.h"
#include "os/node_devices.h"
#include "os/sysfs_text.h"

namespace stoker::os {
namespace {

constexpr std::size_t most_netdevs = 256;
constexpr unsigned deepest_stack = 4;  // a VLAN on a bond on a port has three

std::optional<unsigned> number_in(const Env& env, const std::string& path) {
  return whole_number<unsigned>(sysfs_line(env, path));
}

// "Global tclass=106", and lines of single addresses after it, of NVIDIA's driver out of tree
// (/sys/class/infiniband/DEV/tc/PORT/traffic_class); a bare number of others.
std::optional<unsigned> traffic_class(const Env& env, const RdmaPort& port) {
  const auto line = sysfs_line(
      env, fmt::format("/sys/class/infiniband/{}/tc/{}/traffic_class", port.device, port.port));
  constexpr std::string_view global = "Global tclass=";
  const std::string_view text = line;
  return whole_number<unsigned>(text.starts_with(global) ? text.substr(global.size()) : text);
}

// Documentation/ABI/testing/configfs-rdma_cm; there where somebody made the folder.
std::optional<unsigned> default_tos(const Env& env, const RdmaPort& port) {
  return number_in(env, fmt::format("/sys/kernel/config/rdma_cm/{}/ports/{}/default_roce_tos",
                                    port.device, port.port));
}

// rdma_rxe has no device below it, and alone of those tells its network device
// (drivers/infiniband/sw/rxe/rxe_verbs.c, parent_show).
bool is_software(const Env& env, const RdmaPort& port) {
  const auto folder = "/sys/class/infiniband/" + port.device;
  return !env.exists(folder + "/device") && env.exists(folder + "/parent");
}

// The devices with queues and a wire below `netdev`: itself, or what a bond or a VLAN stands on (links lower_NAME).
void add_lowest(const Env& env, const std::string& netdev, unsigned depth,
                std::vector<std::string>& out) {
  constexpr std::string_view prefix = "lower_";
  bool stands_on = false;
  const auto names = env.list_folder("/sys/class/net/" + netdev);
  for (const auto& name : names.value_or(std::vector<std::string>())) {
    if (!name.starts_with(prefix) || depth == 0) continue;
    stands_on = true;
    add_lowest(env, name.substr(prefix.size()), depth - 1, out);
  }
  if (!stands_on && out.size() < most_netdevs) out.push_back(netdev);
}

void read_files(const Env& env, const RdmaPort& port, RoceNetdev& netdev) {
  const auto notices = fmt::format("/sys/class/net/{}/ecn/roce_np/", netdev.netdev);
  netdev.cnp_dscp = number_in(env, notices + "cnp_dscp");
  netdev.cnp_priority = number_in(env, notices + "cnp_802p_prio");
  netdev.traffic_class = traffic_class(env, port);
  netdev.default_tos = default_tos(env, port);
  netdev.software = is_software(env, port);
  netdev.driver = sysfs_link(env, fmt::format("/sys/class/net/{}/device/driver", netdev.netdev));
}

// One that is down and has no address is not used for RoCE now.
bool is_in_use(const RdmaPort& port) { return !port.gids.empty() || port.state == "ACTIVE"; }

// The kernel tells none of a GID that has none (drivers/infiniband/core/sysfs.c, print_ndev: EINVAL).
std::string without_netdev(const RdmaPort& port) {
  return fmt::format(
      "{} port {}: its addresses name no network device that is seen from here: PFC, ECN and drops "
      "are not looked at",
      port.device, port.port);
}

// By these a driver or firmware refuses, as with counters (rdma_ports.cpp); the kernel may log an error each time.
bool is_refusal(ErrorCode code) {
  return code == ErrorCode::not_supported || code == ErrorCode::invalid_input ||
         code == ErrorCode::io || code == ErrorCode::no_permission;
}

}  // namespace

NetdevQuestions kernel_questions() {
  return {.dcb = read_dcb, .pause = read_pause, .counters = read_ethtool_counters};
}

void RoceReader::ask(RoceNetdev& netdev) {
  auto& refused = refused_[netdev.netdev];
  const auto asked = [&](const char* question, auto&& answer, auto& out, std::string& reason) {
    const auto before = refused.find(question);
    if (before == refused.end()) {
      auto told = answer();
      if (told) {
        out = std::move(*told);
        return;
      }
      reason = told.error().describe();
      const auto code = told.error().code();
      const bool failed = code != ErrorCode::not_supported;
      if (failed) netdev.unread.push_back(fmt::format("{}: {}", question, reason));
      if (is_refusal(code)) refused[question] = {reason, failed};
      return;
    }
    reason = before->second.reason;
    if (before->second.failed) netdev.unread.push_back(fmt::format("{}: {}", question, reason));
  };
  asked("dcb", [&] { return questions_.dcb(netdev.netdev); }, netdev.dcb, netdev.dcb_reason);
  asked(
      "pause", [&] { return questions_.pause(netdev.netdev); }, netdev.pause, netdev.pause_reason);
  asked(
      "counters", [&] { return questions_.counters(netdev.netdev, wanted_); }, netdev.counters,
      netdev.counters_reason);
}

RoceLook RoceReader::read(const RdmaPorts& ports) {
  RoceLook look{.at = env_.clock().monotonic()};
  for (const RdmaPort& port : ports.ports) {
    if (port.link_layer != "Ethernet") continue;
    if (port.netdev.empty()) {
      if (is_in_use(port)) look.unread.push_back(without_netdev(port));
      continue;
    }
    std::vector<std::string> names;
    add_lowest(env_, port.netdev, deepest_stack, names);
    for (const auto& name : names) {
      const auto same = std::ranges::find(look.netdevs, name, &RoceNetdev::netdev);
      if (same != look.netdevs.end()) {
        if (std::ranges::find(same->devices, port.device) == same->devices.end())
          same->devices.push_back(port.device);
        continue;
      }
      if (look.netdevs.size() >= most_netdevs) {
        look.unread.push_back(fmt::format("{} port {}: {} is not looked at, {} are the most",
                                          port.device, port.port, name, most_netdevs));
        break;
      }
      RoceNetdev& netdev = look.netdevs.emplace_back();
      netdev.netdev = name;
      netdev.devices = {port.device};
      read_files(env_, port, netdev);
      ask(netdev);
    }
  }
  std::ranges::sort(look.netdevs, natural_less, &RoceNetdev::netdev);
  return look;
}

}  // namespace stoker::os
