#include "export/own.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/duration.h"
#include "export/labels.h"
#include "export/own_fields.h"
#include "export/owner_labels.h"
#include "export/rdma.h"
#include "export/test_series.h"
#include "health/node_status.h"

namespace stoker::exporting {
namespace {

using device::SourceState;
using health::Verdict;
using store::GpuSnapshot;
using store::Snapshot;

constexpr auto source_states = std::to_array<SourceState>(
    {SourceState::starting, SourceState::running, SourceState::released,
     SourceState::library_missing, SourceState::driver_missing, SourceState::version_mismatch,
     SourceState::no_permission, SourceState::driver_hung, SourceState::failed});
constexpr auto verdicts =
    std::to_array<Verdict>({Verdict::ok, Verdict::degraded, Verdict::critical, Verdict::unknown});

std::string one_label(std::string_view name, std::string_view value) {
  return with({}, name, value);
}

void write_build(Exposition& out, const Snapshot& snapshot, const RenderOptions& options) {
  out.family("stoker_build_info", MetricType::info, "Which Stoker this is");
  out.sample(with(one_label("version", options.version), "revision", options.revision),
             std::int64_t{1});
  if (store::is_simulated(snapshot).value_or(false)) {
    out.family("stoker_simulated", MetricType::gauge, "1: these GPUs are simulated");
    out.sample({}, std::int64_t{1});
  }
  out.family("stoker_scrapes_total", MetricType::counter, "Scrapes answered so far");
  out.sample({}, options.scrapes.scrapes);
  out.family("stoker_scrape_render_seconds_total", MetricType::counter,
             "Time spent writing the answers to scrapes", "seconds");
  out.sample({}, options.scrapes.render_seconds);
}

void write_node(Exposition& out, const Snapshot& snapshot, const std::vector<Finding>& findings) {
  if (snapshot.driver) {
    out.family("stoker_driver_info", MetricType::info, "The driver and its management library");
    out.sample(with(with(one_label("driver_version", snapshot.driver->driver_version),
                         "nvml_version", snapshot.driver->nvml_version),
                    "cuda_version", fmt::format_int(snapshot.driver->cuda_version).c_str()),
               std::int64_t{1});
  }
  out.family("stoker_source_state", MetricType::gauge,
             "1 for the state that the source of all GPU readings is in, else 0");
  for (const SourceState state : source_states) {
    out.sample(one_label("state", device::to_string(state)),
               std::int64_t{state == snapshot.source.state ? 1 : 0});
  }
  out.family("stoker_verdict", MetricType::gauge,
             "1 for the verdict on this node, else 0; unknown is not healthy");
  const Verdict now = health::judge(snapshot, findings).verdict;
  for (const Verdict verdict : verdicts) {
    out.sample(one_label("verdict", health::to_string(verdict)),
               std::int64_t{verdict == now ? 1 : 0});
  }
  out.family("stoker_probe_stuck", MetricType::gauge, "Processes in the driver that would not die");
  out.sample({}, std::int64_t{snapshot.source.stuck_probes});
  out.family("stoker_probe_restarts_total", MetricType::counter,
             "How often the process that reads the driver was started again");
  out.sample({}, snapshot.source.restarts);
  out.family("stoker_dropped_total", MetricType::counter,
             "Things told beyond what is kept, or about GPUs never told");
  out.sample({}, snapshot.dropped);
}

void write_findings(Exposition& out, const std::vector<Finding>& findings,
                    const std::vector<Finding>& own) {
  std::map<std::pair<std::string_view, Severity>, std::int64_t> counts;
  for (const auto* all : {&findings, &own}) {
    for (const Finding& finding : *all) {
      if (finding.state == FindingState::firing) ++counts[{finding.rule, finding.severity}];
    }
  }
  out.family("stoker_findings", MetricType::gauge, "Findings now, by rule and severity");
  for (const auto& [key, count] : counts) {
    out.sample(with(one_label("rule", key.first), "severity", to_string(key.second)), count);
  }
}

void write_states(Exposition& out, const Snapshot& snapshot,
                  const std::vector<std::string>& labels) {
  std::array<std::int64_t, store::gpu_states.size()> counts{};
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    const auto at = std::find(store::gpu_states.begin(), store::gpu_states.end(),
                              store::state_of(gpu, snapshot));
    ++counts.at(static_cast<std::size_t>(at - store::gpu_states.begin()));
  }
  out.family("stoker_gpus", MetricType::gauge, "GPUs known since the start, by state");
  for (std::size_t n = 0; n < store::gpu_states.size(); ++n) {
    out.sample(one_label("state", store::gpu_states.at(n)), counts.at(n));
  }
  out.family("stoker_gpu_state", MetricType::gauge, "1 for the state that this GPU is in, else 0");
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const std::string_view state = store::state_of(snapshot.gpus[n], snapshot);
    for (const std::string_view name : store::gpu_states) {
      out.sample(with(labels[n], "state", name), std::int64_t{name == state ? 1 : 0});
    }
  }
}

void write_gpu_info(Exposition& out, const Snapshot& snapshot,
                    const std::vector<std::string>& labels) {
  out.family("stoker_gpu_info", MetricType::info, "What does not change about a GPU");
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const device::GpuInfo& info = snapshot.gpus[n].info;
    std::string all = labels[n];
    append_label(all, "pci", info.pci.sysfs());
    append_label(all, "name", info.name);
    append_label(all, "architecture", info.architecture);
    append_label(all, "serial", info.serial);
    append_label(all, "board_part", info.board_part);
    append_label(all, "vbios", info.vbios);
    append_label(all, "inforom", info.inforom);
    append_label(all, "numa_node", fmt::format_int(info.numa_node).c_str());
    out.sample(all, std::int64_t{1});
  }
}

void write_freshness(Exposition& out, const Snapshot& snapshot,
                     const std::vector<std::string>& labels) {
  out.family("stoker_gpu_last_answer_age_seconds", MetricType::gauge,
             "Time since a driver call about this GPU last brought a value", "seconds");
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const auto& last = snapshot.gpus[n].last_answer;
    if (last) out.sample(labels[n], in_seconds(snapshot.taken_at - *last));
  }
  out.family("stoker_xid_total", MetricType::counter,
             "Xids of this GPU since the agent began to watch, by number");
  for (std::size_t n = 0; n < labels.size(); ++n) {
    for (const auto& [xid, seen] : snapshot.gpus[n].xids) {
      out.sample(with(labels[n], "xid", fmt::format_int(xid).c_str()), seen.count);
    }
  }
}

struct GetterCost {
  std::uint64_t calls = 0;
  Nanoseconds total{0};
  Nanoseconds longest{0};
};

void write_costs(Exposition& out, const Snapshot& snapshot) {
  std::map<Getter, GetterCost> costs;
  const auto add = [&costs](const std::vector<device::CallCost>& told) {
    for (const device::CallCost& cost : told) {
      GetterCost& sum = costs[cost.getter];
      sum.calls += cost.calls;
      sum.total += cost.total;
      sum.longest = std::max(sum.longest, cost.longest);
    }
  };
  for (const GpuSnapshot& gpu : snapshot.gpus) add(gpu.costs);
  add(snapshot.node_costs);

  out.family("stoker_call_seconds", MetricType::summary,
             "What calls of the driver and the kernel take, by getter", "seconds");
  for (const auto& [getter, cost] : costs) {
    const std::string labels = one_label("getter", to_string(getter));
    out.sample(labels, in_seconds(cost.total), "_sum");
    out.sample(labels, cost.calls, "_count");
  }
  out.family("stoker_call_seconds_max", MetricType::gauge, "The longest of these calls");
  for (const auto& [getter, cost] : costs) {
    out.sample(one_label("getter", to_string(getter)), in_seconds(cost.longest));
  }
}

}  // namespace

void write_own(Exposition& out, const Snapshot& snapshot, const std::vector<Finding>& findings,
               const RenderOptions& options) {
  const std::vector<std::string> labels = all_gpu_labels(snapshot);
  write_build(out, snapshot, options);
  write_node(out, snapshot, findings);
  write_findings(out, findings, options.own_findings);
  write_states(out, snapshot, labels);
  write_gpu_info(out, snapshot, labels);
  write_freshness(out, snapshot, labels);
  write_missing(out, snapshot);
  write_own_fields(out, snapshot, labels);
  if (options.series.owners != OwnerSeries::off) write_owners(out, snapshot, labels);
  write_tests(out, snapshot, labels);
  if (options.series.rdma) write_rdma(out, snapshot);
  write_costs(out, snapshot);
}

}  // namespace stoker::exporting
