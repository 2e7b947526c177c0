#include "nccl/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "nccl/words.h"

namespace stoker::nccl {
namespace {

// Of those of its processes that set `name`, what they all set; nullopt: none does, or they differ.
std::optional<std::string> set_alike(const char* name, const Job& job, const Facts& facts) {
  std::optional<std::string> value;
  for (const auto index : job.processes) {
    const auto& env = facts.processes[index].env;
    const auto found = env.find(name);
    if (found == env.end()) continue;
    if (value && *value != found->second) return std::nullopt;
    value = found->second;
  }
  return value;
}

// "eth0" of "eth0:192.0.2.2<0>" or "[0]eth0:192.0.2.2<0>", where all processes have the same.
std::string interface_of(const Job& job, const Facts& facts) {
  std::set<std::string> all;
  for (const auto index : job.processes) {
    std::string_view text = facts.processes[index].bootstrap;
    if (const auto close = text.find(']'); text.starts_with('[') && close != npos)
      text.remove_prefix(close + 1);
    if (!text.empty()) all.emplace(text.substr(0, text.find(':')));
  }
  return all.size() == 1 && *all.begin() != "lo" ? *all.begin() : std::string();
}

// The network that all processes say they use; empty: none is said, or it is TCP already.
std::string rdma_network(const Job& job, const Facts& facts) {
  std::string network;
  for (const auto index : job.processes) {
    const auto& said = facts.processes[index].network;
    if (said == "Socket") return {};
    if (!said.empty()) network = said;
  }
  return network;
}

bool leaves_its_host(const Job& job, const Facts& facts) {
  std::set<std::string> hosts;
  bool over_network = false;
  for (const auto index : job.processes) {
    hosts.insert(facts.processes[index].host);
    over_network = over_network || facts.processes[index].over_network;
  }
  return over_network || hosts.size() > 1;
}

std::string tcp_trial(const std::string& network, const Job& job, const Facts& facts) {
  // https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html; NCCL_IBEXT_DISABLE: the plug-in of HPC-X,
  // https://docs.nvidia.com/networking/display/hpcxv226/NCCL-RDMA-SHARP-Plugins
  std::string environment = "NCCL_IB_DISABLE=1";
  if (network.starts_with("IBext")) environment += " NCCL_IBEXT_DISABLE=1";
  if (network != "IB" && !network.starts_with("IBext")) environment += " NCCL_NET_PLUGIN=none";
  if (set_alike("NCCL_NET", job, facts)) environment += " NCCL_NET=Socket";
  auto interface = set_alike("NCCL_SOCKET_IFNAME", job, facts);
  if (!interface) interface = interface_of(job, facts);
  environment += interface->empty()
                     ? std::string(" NCCL_SOCKET_IFNAME= the interface that joins the hosts")
                     : fmt::format(" NCCL_SOCKET_IFNAME={}", shown(*interface, 60));
  return fmt::format(
      "to tell the RDMA path from the rest, run it once over TCP, all else alike: {}; it is "
      "slower, but "
      "where it then goes on, the fault is in the RDMA path",
      environment);
}

bool asks_for_sharp(const Job& job, const Facts& facts) {
  return std::ranges::any_of(job.processes, [&](std::uint32_t index) {
    const auto& env = facts.processes[index].env;
    const auto enabled = env.find("NCCL_COLLNET_ENABLE");
    const auto algorithm = env.find("NCCL_ALGO");
    return (enabled != env.end() && enabled->second == "1") ||
           (algorithm != env.end() &&
            (contains(algorithm->second, "ollnet") || contains(algorithm->second, "ollNet")));
  });
}

}  // namespace

std::string trials_of(Class verdict, bool stands_still, const Job& job, const Facts& facts) {
  const bool network = verdict == Class::ib_transport || verdict == Class::roce_gid ||
                       (verdict == Class::unknown && stands_still);
  if (!network || !leaves_its_host(job, facts)) return {};
  std::string text;
  const auto rdma = rdma_network(job, facts);
  if (!rdma.empty()) text = tcp_trial(rdma, job, facts);
  if (!asks_for_sharp(job, facts)) return text;
  text += fmt::format(
      "{}SHARP was asked for: run it once with NCCL_COLLNET_ENABLE=0{}; to work, it needs its "
      "plug-in in "
      "every rank (NCCL_DEBUG=INFO says which network plug-in was loaded), GPU Direct RDMA, the "
      "aggregation manager sharp_am beside the subnet manager, and leaf switches that join the "
      "same "
      "rail of each server",
      text.empty() ? "" : "; ", set_alike("NCCL_ALGO", job, facts) ? " and NCCL_ALGO unset" : "");
  return text;
}

}  // namespace stoker::nccl
