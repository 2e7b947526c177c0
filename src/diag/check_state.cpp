#include "diag/check_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "diag/limits.h"

namespace stoker::diag {
namespace {

struct StateTest {
  std::string_view name;
  FieldId field;
  std::string_view rules;  // with blanks between
  std::string_view text;
};
constexpr auto state_tests = std::to_array<StateTest>({
#define STOKER_STATE_TEST(name, field, rules, text) {#name, FieldId::field, rules, text},
#include "diag/state_tests.def"
#undef STOKER_STATE_TEST
});

bool has_rule(std::string_view rules, std::string_view rule) {
  while (!rules.empty()) {
    const auto end = std::min(rules.find(' '), rules.size());
    if (rules.substr(0, end) == rule) return true;
    rules.remove_prefix(std::min(end + 1, rules.size()));
  }
  return false;
}

// Is it about this card, or one of its links?
bool is_about(const Finding& finding, const store::GpuSnapshot& gpu) {
  const std::string id = gpu.info.uuid.empty() ? gpu.info.pci.sysfs() : gpu.info.uuid;
  if (finding.entity.kind == EntityKind::gpu) return finding.entity.id == id;
  return finding.entity.kind == EntityKind::nvlink && finding.entity.id.starts_with(id + "/");
}

TestResult begin_state(const StateTest& test, const store::GpuSnapshot& gpu) {
  return {.name = std::string(test.name),
          .level = 1,
          .gpu = gpu.info.index,
          .uuid = gpu.info.uuid,
          .serial = gpu.info.serial};
}

void take_finding(const Finding& finding, TestResult& out) {
  if (finding.severity >= Severity::warning) {
    out.verdict = Verdict::fail;
    if (!out.reason.empty()) out.details.push_back(out.reason);
    out.reason = finding.message;
    if (!finding.fix.empty()) out.details.push_back(finding.fix);
  } else if (out.reason.empty()) {
    out.reason = finding.message;
  }
}

// A link that is down is a fault where the product has all of its links up, or where a sister card has more of them.
void judge_links(const store::GpuSnapshot& gpu, const store::Snapshot& snapshot, TestResult& out) {
  const auto up = [](const store::GpuSnapshot& one) {
    const Reading reading = one.readings.get(FieldId::nvlink_links_up);
    return reading.ok() ? static_cast<std::size_t>(as_double(reading.value)) : 0;
  };
  const std::size_t here = up(gpu);
  std::size_t most = 0;
  for (const auto& other : snapshot.gpus) {
    if (other.info.name == gpu.info.name) most = std::max(most, up(other));
  }
  const bool fixed = limit_of("peer_copy", {.name = gpu.info.name}).has_value();
  const std::size_t wanted = fixed ? gpu.info.nvlinks.size() : most;
  out.value = static_cast<double>(here);
  out.unit = "links";
  if (wanted == 0) {
    out.verdict = Verdict::not_tested;
    out.value.reset();
    out.reason = "no NVLink is up on any card of this kind here, and the product may have none";
    return;
  }
  out.limit = static_cast<double>(wanted);
  if (here >= wanted) return;
  out.verdict = Verdict::fail;
  out.reason = fmt::format("{} of {} NVLinks are up", here, wanted);
}

TestResult state_of(const StateTest& test, const store::GpuSnapshot& gpu,
                    const store::Snapshot& snapshot, const std::vector<Finding>& findings) {
  TestResult out = begin_state(test, gpu);
  const Reading reading = gpu.readings.get(test.field);
  out.verdict = Verdict::pass;
  if (test.field == FieldId::nvlink_links_up && reading.ok()) judge_links(gpu, snapshot, out);
  if (out.verdict == Verdict::fail) return out;
  for (const auto& finding : findings) {
    if (is_about(finding, gpu) && has_rule(test.rules, finding.rule)) take_finding(finding, out);
  }
  if (out.verdict == Verdict::fail) return out;
  if (!reading.ok()) {
    out.verdict = Verdict::not_tested;
    out.hindered = reading.reason != Reason::not_supported && reading.reason != Reason::no_source;
    out.reason = fmt::format("{}: {}", field(test.field).name, describe(reading.reason));
    return out;
  }
  return out;
}

TestResult driver_state(const store::Snapshot& snapshot, const std::vector<Finding>& findings) {
  TestResult out{.name = "driver", .level = 1, .verdict = Verdict::pass};
  for (const auto& finding : findings) {
    if (finding.entity.kind == EntityKind::node && finding.severity >= Severity::error)
      take_finding(finding, out);
  }
  if (out.verdict == Verdict::fail) return out;
  if (snapshot.source.state != device::SourceState::running || !snapshot.driver) {
    out.verdict = Verdict::not_tested;
    out.hindered = true;
    out.reason = snapshot.source.detail.empty() ? device::to_string(snapshot.source.state)
                                                : snapshot.source.detail;
    return out;
  }
  out.reason =
      fmt::format("driver {}, {} GPUs", snapshot.driver->driver_version, snapshot.gpus.size());
  return out;
}

}  // namespace

std::vector<TestResult> check_state(const store::Snapshot& snapshot,
                                    const std::vector<Finding>& findings,
                                    const std::vector<std::uint32_t>& gpus) {
  std::vector<TestResult> out = {driver_state(snapshot, findings)};
  for (const auto& gpu : snapshot.gpus) {
    if (!gpus.empty() && std::ranges::find(gpus, gpu.info.index) == gpus.end()) continue;
    for (const auto& test : state_tests) out.push_back(state_of(test, gpu, snapshot, findings));
  }
  return out;
}

Users users_of(const store::GpuSnapshot& gpu) {
  Users out;
  out.unknown = !gpu.process_outcome.ok();
  for (const auto& process : gpu.processes) {
    out.who.push_back(fmt::format("process {}{}", process.pid,
                                  process.name.empty() ? "" : " (" + process.name + ")"));
  }
  // Without a process an idle card has what the driver keeps for itself, which memory_used leaves out; a process of
  // another container or namespace may not be listed, but its memory is.
  constexpr double most_idle_bytes = 512.0 * (1 << 20);
  const Reading used = gpu.readings.get(FieldId::memory_used);
  if (out.who.empty() && used.ok() && as_double(used.value) > most_idle_bytes) {
    out.who.push_back(
        fmt::format("{:.1f} GiB of its memory are in use by somebody who is not listed",
                    as_double(used.value) / (1 << 30)));
  }
  return out;
}

}  // namespace stoker::diag
