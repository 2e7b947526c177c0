#include "export/rdma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "export/labels.h"
#include "fabric/port_kinds.h"
#include "model/rdma_port.h"

namespace stoker::exporting {
namespace {

constexpr auto rdma_rows = std::to_array<RdmaSeries>({
#define STOKER_RDMA_SERIES(counter, name, times, help) {#counter, name, times, help},
#include "export/rdma_series.def"
#undef STOKER_RDMA_SERIES
});

constexpr double bytes_per_gigabit = 1e9 / 8;

// The numbers that sysfs has before these words: drivers/infiniband/core/sysfs.c, state_show and phys_state_to_str. The first
// physical state has no word of its own.
constexpr std::array<std::string_view, 6> states = {"NOP",   "DOWN",   "INIT",
                                                    "ARMED", "ACTIVE", "ACTIVE_DEFER"};
constexpr std::array<std::string_view, 8> physical_states = {"-",
                                                             "Sleep",
                                                             "Polling",
                                                             "Disabled",
                                                             "PortConfigurationTraining",
                                                             "LinkUp",
                                                             "LinkErrorRecovery",
                                                             "Phy Test"};

template <typename Words>
std::optional<std::int64_t> number_of(const Words& words, const std::string& word) {
  const auto* const found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return found - words.begin();
}

std::string labels_of(const RdmaPort& port) {
  return with(with({}, "device", port.device), "port", fmt::format_int(port.port).c_str());
}

struct Labelled {
  const RdmaPort* port;
  std::string labels;
};

void write_info(Exposition& out, const std::vector<Labelled>& ports) {
  out.family("node_infiniband_info", MetricType::gauge, "What does not change about an RDMA card");
  std::set<std::string> told;
  for (const auto& [port, labels] : ports) {
    if (!told.insert(port->device).second) continue;
    out.sample(with(with(with(with({}, "device", port->device), "board_id", port->board),
                         "firmware_version", port->firmware),
                    "hca_type", port->model),
               std::int64_t{1});
  }
  out.family("stoker_rdma_port_info", MetricType::info,
             "What is known of an RDMA port; join it on device and port");
  for (const auto& [port, labels] : ports) {
    std::string all = with(labels, "link_layer", port->link_layer);
    append_label(all, "pci", port->pci ? port->pci->sysfs() : "");
    append_label(all, "netdev", port->netdev);
    out.sample(all, std::int64_t{1});
  }
}

void write_states(Exposition& out, const std::vector<Labelled>& ports) {
  out.family("node_infiniband_state_id", MetricType::gauge,
             "State of the port: 1 down, 2 init, 3 armed, 4 active, 5 active defer");
  for (const auto& [port, labels] : ports) {
    if (const auto id = number_of(states, port->state)) out.sample(labels, *id);
  }
  out.family("node_infiniband_physical_state_id", MetricType::gauge,
             "Physical state: 1 sleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 link error "
             "recovery, 7 test");
  for (const auto& [port, labels] : ports) {
    if (const auto id = number_of(physical_states, port->physical)) out.sample(labels, *id);
  }
}

void write_rate(Exposition& out, std::string_view labels, const std::string& rate) {
  const double gbps = fabric::gbps_of(rate);
  if (gbps > 0) out.sample(labels, gbps * bytes_per_gigabit);
}

void write_rates(Exposition& out, const std::vector<Labelled>& ports,
                 const std::vector<RdmaPort>& all) {
  out.family("node_infiniband_rate_bytes_per_second", MetricType::gauge,
             "Rate that the port runs at");
  for (const auto& [port, labels] : ports) write_rate(out, labels, port->rate);
  const fabric::PortKinds kinds(all);
  out.family("stoker_rdma_port_peers_rate_bytes_per_second", MetricType::gauge,
             "Rate that more than half of the linked ports of its kind in this node run at");
  for (const auto& [port, labels] : ports) {
    if (const auto rate = kinds.rate_of_most(*port)) write_rate(out, labels, *rate);
  }
}

void write_counters(Exposition& out, const std::vector<Labelled>& ports) {
  for (const RdmaSeries& row : rdma_rows) {
    out.family(row.name, MetricType::counter, row.help);
    const std::string counter(row.counter);
    for (const auto& [port, labels] : ports) {
      const auto found = port->counters.find(counter);
      if (found != port->counters.end()) out.sample(labels, found->second * row.times);
    }
  }
}

}  // namespace

std::span<const RdmaSeries> rdma_series() { return rdma_rows; }

void write_rdma(Exposition& out, const store::Snapshot& snapshot) {
  if (snapshot.ports == nullptr) return;
  const RdmaPorts& seen = *snapshot.ports;
  std::vector<Labelled> ports;
  ports.reserve(seen.ports.size());
  for (const RdmaPort& port : seen.ports) ports.push_back({&port, labels_of(port)});
  out.family(
      "stoker_rdma_ports_known", MetricType::gauge,
      "1: the node's RDMA ports could be looked at lately; 0: not, and nothing of them is told");
  out.sample({}, std::int64_t{seen.problem.empty() ? 1 : 0});
  out.family("stoker_rdma_port_unread", MetricType::gauge,
             "How much of the port could not be read");
  for (const auto& [port, labels] : ports) out.sample(labels, std::uint64_t{port->unread.size()});
  write_info(out, ports);
  write_states(out, ports);
  write_rates(out, ports, seen.ports);
  write_counters(out, ports);
}

}  // namespace stoker::exporting
