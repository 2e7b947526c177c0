#include "health/node_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "catalog/xid.h"
#include "fabric/node_ports.h"
#include "health/gpu_view.h"
#include "health/recovery.h"
#include "health/rules.h"

namespace stoker::health {
namespace {

using device::GpuState;
using device::SourceState;
using store::GpuSnapshot;
using store::Snapshot;

// How long an Xid counts as news. What follows from it stays visible in its own right (a lost GPU, a
// recovery action), and stoker_xid_total keeps the count.
constexpr Nanoseconds xid_is_news_for = Seconds(3600);
constexpr std::size_t names_shown = 8;

// The GPUs' places are read in a thread of its own, once the agent runs.
constexpr Nanoseconds bus_is_read_in = Seconds(10);

// Errors of the program on the GPU, which say nothing about the GPU: the list that NVIDIA's own
// k8s-device-plugin never calls unhealthy (internal/rm/health.go at 1b826acc6).
constexpr std::array<std::uint32_t, 6> xids_of_programs = {13, 31, 43, 45, 68, 109};

// Follows another Xid and says that the driver now asks for something (check_recovery tells what):
// https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
constexpr std::uint32_t xid_recovery_action_changed = 154;

Finding make(RuleId id, Entity entity, std::string message) {
  const Rule& row = rule(id);
  return finding_by(row.name, row, std::move(entity), std::move(message));
}

WallTime wall_of(const Snapshot& snapshot, MonotonicTime at) {
  return {snapshot.wall.since_epoch - (snapshot.taken_at - at)};
}

Entity node_of(const Snapshot& snapshot) { return {EntityKind::node, snapshot.hostname}; }

std::optional<RuleId> rule_of(SourceState state) {
  switch (state) {
    case SourceState::running: return std::nullopt;
    case SourceState::starting: return RuleId::source_starting;
    case SourceState::released: return RuleId::source_released;
    case SourceState::library_missing: return RuleId::driver_library_missing;
    case SourceState::driver_missing: return RuleId::driver_not_loaded;
    case SourceState::version_mismatch: return RuleId::driver_version_mismatch;
    case SourceState::no_permission: return RuleId::driver_no_permission;
    case SourceState::driver_hung: return RuleId::driver_hung;
    case SourceState::failed: return RuleId::source_failed;
  }
  return RuleId::source_failed;
}

std::string_view message_of(SourceState state) {
  switch (state) {
    case SourceState::running: return "The driver is being read";
    case SourceState::starting: return "The GPUs are being opened";
    case SourceState::released: return "The driver was let go of on request";
    case SourceState::library_missing: return "The NVIDIA management library can't be loaded";
    case SourceState::driver_missing: return "The NVIDIA driver is not loaded";
    case SourceState::version_mismatch:
      return "The NVIDIA library and kernel module differ in version";
    case SourceState::no_permission: return "The NVIDIA driver may not be opened";
    case SourceState::driver_hung: return "The NVIDIA driver does not answer";
    case SourceState::failed: return "The GPUs can't be read";
  }
  return "The GPUs can't be read";
}

// Where the GPUs are that can't be opened: those of the bus that are not read. Empty: not told.
std::vector<PciAddress> unopened_places(const Snapshot& snapshot) {
  std::vector<PciAddress> places;
  if (snapshot.devices == nullptr || !snapshot.devices->gpus_problem.empty()) return places;
  for (const auto& [pci, place] : snapshot.devices->gpus) {
    const auto is_here = [&](const GpuSnapshot& gpu) { return gpu.info.pci == pci; };
    if (std::ranges::none_of(snapshot.gpus, is_here)) places.push_back(pci);
  }
  // More or fewer: which of them, the bus does not tell.
  if (std::cmp_not_equal(places.size(), snapshot.source.unopened_gpus)) places.clear();
  return places;
}

void check_unopened(const Snapshot& snapshot, std::vector<Finding>& out) {
  const device::SourceStatus& source = snapshot.source;
  if (source.unopened_gpus <= 0) return;
  const auto tell = [&](Entity entity, std::string message) {
    Finding finding = make(RuleId::gpu_unopened, std::move(entity), std::move(message));
    // Forbidden to us is not broken.
    if (source.forbidden_gpus == source.unopened_gpus) finding.severity = Severity::error;
    finding.evidence.push_back(source.detail);
    if (snapshot.devices == nullptr && snapshot.taken_at - source.since < bus_is_read_in) {
      finding.state = FindingState::suspect;  // which it is, the bus tells in a moment
    }
    out.push_back(std::move(finding));
  };
  const auto places = unopened_places(snapshot);
  for (const auto& pci : places) {
    tell({EntityKind::gpu, pci.sysfs()}, fmt::format("The GPU at {} can't be opened", pci.sysfs()));
  }
  if (places.empty()) {
    tell(node_of(snapshot),
         fmt::format("{} of the driver's GPUs can't be opened", source.unopened_gpus));
  }
}

void check_source(const Snapshot& snapshot, std::vector<Finding>& out) {
  const device::SourceStatus& source = snapshot.source;
  if (const auto id = rule_of(source.state)) {
    Finding finding = make(*id, node_of(snapshot), std::string(message_of(source.state)));
    finding.since = wall_of(snapshot, source.since);
    if (!source.detail.empty()) finding.evidence.push_back(source.detail);
    out.push_back(std::move(finding));
  }
  if (source.stuck_probes > 0) {
    Finding finding = make(RuleId::probe_stuck, node_of(snapshot),
                           fmt::format("{} of our processes can't be ended", source.stuck_probes));
    if (!source.detail.empty()) finding.evidence.push_back(source.detail);
    out.push_back(std::move(finding));
  }
  check_unopened(snapshot, out);
  if (source.state == SourceState::running && snapshot.gpus.empty() && source.unopened_gpus == 0) {
    out.push_back(make(RuleId::no_gpus, node_of(snapshot), "The driver lists no GPU"));
  }
}

void check_state(const Snapshot& snapshot, const GpuSnapshot& gpu, std::vector<Finding>& out) {
  if (gpu.state == GpuState::present) return;
  const bool lost = gpu.state == GpuState::lost;
  Finding finding = make(lost ? RuleId::gpu_lost : RuleId::gpu_hung, entity_of(gpu),
                         fmt::format("{} {}", name_of(gpu), lost ? "is lost" : "hangs"));
  finding.since = wall_of(snapshot, gpu.state_since);
  if (!gpu.state_detail.empty()) finding.evidence.push_back(gpu.state_detail);
  if (gpu.last_answer) {
    finding.evidence.push_back(
        fmt::format("last answer {} ago", format_duration(snapshot.taken_at - *gpu.last_answer)));
  }
  out.push_back(std::move(finding));
}

// Names of the fields that have no value for `reason`, with what was asked.
std::vector<std::string> fields_with(const GpuSnapshot& gpu, Reason reason) {
  std::vector<std::string> names;
  for (const auto& [id, reading] : gpu.readings.all()) {
    if (reading.reason == reason) names.emplace_back(field(id).name);
  }
  return names;
}

std::string list(const std::vector<std::string>& names) {
  const auto shown = std::min(names.size(), names_shown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// Nothing comes from it any more: not one reading is current, or those that grew old first are as old as all others.
bool stands_still(const GpuSnapshot& gpu, MonotonicTime now) {
  if (is_silent(gpu, now)) return true;
  std::optional<Nanoseconds> youngest;
  for (const auto& [id, reading] : gpu.readings.all()) {
    if (reading.reason != Reason::stale) continue;
    const Nanoseconds age = now - reading.taken_at;
    youngest = youngest ? std::min(*youngest, age) : age;
  }
  return youngest && silent_for(gpu, now) * 2 >= *youngest;
}

// One thing keeps all of the node's GPUs from being read: it is not the GPUs. They stop to be read one after the other,
// within a round; a GPU that alone is silent for three rounds has sisters that told something since.
std::optional<Finding> silence_of_all(const Snapshot& snapshot) {
  Nanoseconds longest{0};
  Nanoseconds shortest = Nanoseconds::max();
  std::size_t silent = 0;
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    if (gpu.state != GpuState::present) continue;
    const Nanoseconds silence = silent_for(gpu, snapshot.taken_at);
    if (stands_still(gpu, snapshot.taken_at)) longest = std::max(longest, silence);
    shortest = std::min(shortest, silence);
    ++silent;
  }
  if (silent < 2 || longest <= Nanoseconds{0} || shortest * 2 <= longest) return std::nullopt;
  Finding finding = make(RuleId::gpus_silent, node_of(snapshot),
                         fmt::format("None of {} GPUs has brought a reading for {}", silent,
                                     format_duration(shortest)));
  finding.since = WallTime{snapshot.wall.since_epoch - shortest};
  return finding;
}

void check_readings(const Snapshot& snapshot, const GpuSnapshot& gpu, std::vector<Finding>& out) {
  if (gpu.state != GpuState::present) return;
  if (is_silent(gpu, snapshot.taken_at)) {
    Finding finding = make(RuleId::gpu_silent, entity_of(gpu),
                           fmt::format("{} has brought no reading for {}", name_of(gpu),
                                       format_duration(silent_for(gpu, snapshot.taken_at))));
    finding.since = wall_of(snapshot, gpu.last_answer.value_or(gpu.state_since));
    out.push_back(std::move(finding));
    return;
  }
  const auto tell = [&](RuleId id, Reason reason, std::string_view what) {
    const std::vector<std::string> names = fields_with(gpu, reason);
    if (names.empty()) return;
    Finding finding = make(id, entity_of(gpu),
                           fmt::format("{}: {} readings {}", name_of(gpu), names.size(), what));
    finding.evidence.push_back(fmt::format("{}: {}", to_string(reason), list(names)));
    out.push_back(std::move(finding));
  };
  tell(RuleId::readings_stale, Reason::stale, "are too old");
  tell(RuleId::readings_failed, Reason::failed, "fail");
  tell(RuleId::readings_failed, Reason::invalid, "can't be true");
  tell(RuleId::readings_no_permission, Reason::no_permission, "need more rights");
}

void check_recovery(const Snapshot& snapshot, const GpuSnapshot& gpu, std::vector<Finding>& out) {
  const Reading reading = gpu.readings.get(FieldId::recovery_action);
  if (!reading.ok()) return;
  const auto value = static_cast<std::int64_t>(as_double(reading.value));
  if (value == 0) return;
  const std::string driver = snapshot.driver ? snapshot.driver->driver_version : std::string();
  const Recovery recovery = recovery_of(value, driver);
  Finding finding =
      make(RuleId::recovery_action, entity_of(gpu),
           recovery.known()
               ? fmt::format("The driver asks for {}: {}", name_of(gpu), recovery.name)
               : fmt::format("The driver asks for {}: recovery action {}, which is not known",
                             name_of(gpu), value));
  finding.action = recovery.action;
  finding.fix = recovery.fix;
  finding.evidence.push_back(fmt::format("recovery_action = {} with driver {}", value, driver));
  out.push_back(std::move(finding));
}

bool is_of_a_program(std::uint32_t xid) {
  return std::ranges::find(xids_of_programs, xid) != xids_of_programs.end();
}

// Which of two Xids heads the finding: one about the GPU before the announcement, before one of a
// program; among equals the later one.
int weight_of(std::uint32_t xid) {
  if (is_of_a_program(xid)) return 0;
  return xid == xid_recovery_action_changed ? 1 : 2;
}

void check_xid(const Snapshot& snapshot, const GpuSnapshot& gpu, std::vector<Finding>& out) {
  const std::pair<const std::uint32_t, store::XidTally>* worst = nullptr;
  for (const auto& entry : gpu.xids) {
    if (snapshot.taken_at - entry.second.last > xid_is_news_for) continue;
    const auto rank = [](const auto& one) {
      return std::pair(weight_of(one.first), one.second.last);
    };
    if (worst == nullptr || rank(*worst) < rank(entry)) worst = &entry;
  }
  if (worst == nullptr) return;
  const auto& [xid, seen] = *worst;
  Finding finding =
      make(RuleId::xid_seen, entity_of(gpu),
           fmt::format("{} reported Xid {} ({}) {} ago", name_of(gpu), xid, xid_name(xid),
                       format_duration(snapshot.taken_at - seen.last)));
  finding.since = wall_of(snapshot, seen.last);
  if (is_of_a_program(xid)) finding.severity = Severity::info;
  std::vector<std::string> counts;
  counts.reserve(gpu.xids.size());
  for (const auto& [number, tally] : gpu.xids) {
    counts.push_back(fmt::format("Xid {} x {}", number, tally.count));
  }
  finding.evidence.push_back("since the agent began to watch: " + list(counts));
  out.push_back(std::move(finding));
}

void check_attribution(const Snapshot& snapshot, std::vector<Finding>& out) {
  if (snapshot.attribution == nullptr) return;
  const auto check = [&](const AttributionSource& told, RuleId id, std::string_view message) {
    if (told.reason == Reason::ok || told.reason == Reason::pending ||
        told.reason == Reason::no_source) {
      return;
    }
    Finding finding = make(id, node_of(snapshot), std::string(message));
    if (!told.detail.empty()) finding.evidence.push_back(told.detail);
    out.push_back(std::move(finding));
  };
  check(snapshot.attribution->processes, RuleId::attribution_processes,
        "Whose processes run on the GPUs is not known");
  check(snapshot.attribution->pods, RuleId::attribution_pods,
        "Which pod holds which GPU is not known");
}

void check_ports(const Snapshot& snapshot, std::vector<Finding>& out) {
  // Before the first look there is a problem too, and no news.
  if (snapshot.ports == nullptr || snapshot.ports->at == MonotonicTime{}) return;
  const RdmaPorts& look = *snapshot.ports;
  if (!look.problem.empty() || !look.unread.empty()) {
    Finding finding =
        make(RuleId::ports_unknown, node_of(snapshot),
             look.problem.empty() ? "Not all RDMA ports of this node could be listed"
                                  : "How the RDMA ports of this node are is not known");
    if (!look.problem.empty()) finding.evidence.push_back(look.problem);
    std::ranges::copy(look.unread, std::back_inserter(finding.evidence));
    out.push_back(std::move(finding));
  }
  for (const RdmaPort& port : look.ports) {
    if (port.unread.empty()) continue;
    Finding finding =
        make(RuleId::port_unread, fabric::entity_of(port),
             fmt::format("{} does not tell all of its files", fabric::port_text(port)));
    finding.evidence = port.unread;
    out.push_back(std::move(finding));
  }
}

// A NIC that is expected and whose port has a finding of its own is one fault, which is told as the port's.
void explain_nics(std::vector<Finding>& findings) {
  const auto is_told = [&](const std::string& nic) {
    return std::ranges::any_of(findings, [&](const Finding& one) {
      return (one.rule == "port-down" || one.rule == "port-gone") &&
             one.severity >= Severity::warning && one.state == FindingState::firing &&
             one.entity.id.starts_with(nic + "/");
    });
  };
  for (Finding& finding : findings) {
    if (finding.rule != rule(RuleId::expected_nics).name) continue;
    const auto nics = wrong_nics(finding);
    if (!nics.empty() && std::ranges::all_of(nics, is_told)) finding.severity = Severity::info;
  }
}

}  // namespace

std::vector<Finding> evaluate(const Snapshot& snapshot, const Expected& expected,
                              std::vector<Finding> checked) {
  std::vector<Finding> findings = std::move(checked);
  std::ranges::move(expected_findings(snapshot, expected), std::back_inserter(findings));
  check_source(snapshot, findings);
  check_attribution(snapshot, findings);
  check_ports(snapshot, findings);
  explain_nics(findings);
  const bool telling = store::is_telling(snapshot.source.state);
  const auto silence = telling ? silence_of_all(snapshot) : std::nullopt;
  if (silence) findings.push_back(*silence);
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    check_state(snapshot, gpu, findings);
    if (telling && !silence) check_readings(snapshot, gpu, findings);
    check_recovery(snapshot, gpu, findings);
    check_xid(snapshot, gpu, findings);
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(b.severity, a.rule, a.entity, a.message) <
           std::tie(a.severity, b.rule, b.entity, b.message);
  });
  return findings;
}

}  // namespace stoker::health
