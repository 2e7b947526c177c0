// Do the ranks of a job have the same settings?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "lint/env/checks.h"

namespace stoker::lint {
namespace {

// What may well differ from rank to rank: files, devices and interfaces of a host, and names.
bool may_differ(std::string_view name) {
  constexpr auto own = std::to_array<std::string_view>(
      {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS", "NCCL_SOCKET_IFNAME",
       "NCCL_OOB_NET_IFNAME", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_TOPO_FILE",
       "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE", "NCCL_HOSTID", "NCCL_CONF_FILE",
       "NCCL_PROXY_CPUSET", "NCCL_RAS_ADDR"});
  return std::ranges::find(own, name) != own.end() || find_variable(name) == nullptr;
}

bool is_rank(const std::vector<Variable>& process) {
  return std::ranges::any_of(
      process, [](const Variable& variable) { return variable.name.starts_with("NCCL_"); });
}

}  // namespace

std::vector<Finding> compare_environments(std::span<const std::vector<Variable>> processes) {
  struct Seen {
    const Variable* variable = nullptr;  // nullptr: a process does not set it
    std::map<std::string, int> values;
  };
  std::map<std::string_view, Seen> seen;
  int ranks = 0;
  for (const auto& process : processes) {
    if (!is_rank(process)) continue;
    ++ranks;
    for (const auto& variable : process) {
      if (!variable.value || may_differ(variable.name)) continue;
      auto& entry = seen[variable.name];
      entry.variable = &variable;
      ++entry.values[*variable.value];
    }
  }
  EnvReport report;
  for (auto& [name, entry] : seen) {
    int set = 0;
    for (const auto& [value, times] : entry.values) set += times;
    if (entry.values.size() == 1 && set == ranks) continue;
    auto& finding = report.add("nccl-differs", *entry.variable,
                               fmt::format("{} is not the same in all {} processes", name, ranks));
    finding.evidence.clear();
    for (const auto& [value, times] : entry.values) {
      finding.evidence.push_back(fmt::format("{} of {}: {}={}", times, ranks, name, value));
    }
    if (set < ranks) {
      finding.evidence.push_back(fmt::format("{} of {}: not set", ranks - set, ranks));
    }
  }
  return report.take();
}

}  // namespace stoker::lint
