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

bool is_among(const store::GpuSnapshot& gpu, const std::vector<std::uint32_t>& gpus) {
  return gpus.empty() || std::ranges::find(gpus, gpu.info.index) != gpus.end();
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

// What is only suspected (it has not held for long enough) is no fault, and no pass either.
void take_finding(const Finding& finding, TestResult& out) {
  if (finding.state == FindingState::clear) return;
  if (finding.state == FindingState::suspect && finding.severity >= Severity::warning) {
    if (out.verdict == Verdict::fail) return;
    out.verdict = Verdict::not_tested;
    out.hindered = true;
    out.reason = fmt::format("suspect: {}", finding.message);
    return;
  }
  if (finding.severity >= Severity::warning) {
    out.verdict = Verdict::fail;
    out.hindered = false;
    if (!out.reason.empty()) out.details.push_back(out.reason);
    out.reason = finding.message;
    if (!finding.fix.empty()) out.details.push_back(finding.fix);
  } else if (out.reason.empty()) {
    out.reason = finding.message;
  }
}

bool is_hindrance(Reason reason) {
  return reason != Reason::not_supported && reason != Reason::no_source;
}

// What a card's reading is compared with, and was not told although the card has it: a limit that is 0 was not read
// (api.h). Empty: all was. NVML's thresholds of temperature are to go on Ada and later, whose margin stands for them
// (nvml.h, nvmlDeviceGetTemperatureThreshold).
std::string unread_beside(std::string_view test, const store::GpuSnapshot& gpu) {
  const auto unread = [&](FieldId id) {
    const Reading reading = gpu.readings.get(id);
    return reading.ok() || !is_hindrance(reading.reason)
               ? ""
               : fmt::format("{}: {}", field(id).name, describe(reading.reason));
  };
  const auto& info = gpu.info;
  if (test == "state_pcie" && (info.max_pcie_width == 0 || info.max_pcie_generation == 0))
    return "how wide and fast its PCIe link can be was not told";
  if (test == "state_power_limit" && info.power_limit_default_watts <= 0)
    return "its default power limit was not told";
  if (test == "state_temperature" && info.slowdown_celsius == 0 && info.shutdown_celsius == 0 &&
      info.max_operating_celsius == 0 && !gpu.readings.get(FieldId::thermal_margin).ok()) {
    return "at which temperature it slows down was not told";
  }
  if (test == "state_ecc") return unread(FieldId::ecc_mode);
  return "";
}

struct LinkCounts {
  std::size_t here = 0;     // links of this card that are up
  std::size_t wanted = 0;   // that should be
  bool has_others = false;  // other cards of the node, which a link could reach
};

LinkCounts count_links(const store::GpuSnapshot& gpu, const store::Snapshot& snapshot) {
  const auto up = [](const store::GpuSnapshot& one) {
    const Reading reading = one.readings.get(FieldId::nvlink_links_up);
    return reading.ok() ? static_cast<std::size_t>(as_double(reading.value)) : 0;
  };
  LinkCounts out{.here = up(gpu), .has_others = snapshot.gpus.size() > 1};
  for (const auto& other : snapshot.gpus) {
    if (other.info.name == gpu.info.name && !other.info.mig_enabled)
      out.wanted = std::max(out.wanted, up(other));
  }
  if (has_nvlink(gpu.info.name)) out.wanted = std::max(out.wanted, gpu.info.nvlinks.size());
  return out;
}

// A link that is down is a fault where the product has all of its links up, or where a sister card has more of them. In MIG
// mode links are off, and a card that is alone in its machine (a part of a board in a VM) may have none that is up.
void judge_links(const store::GpuSnapshot& gpu, const store::Snapshot& snapshot, TestResult& out) {
  const Reading reading = gpu.readings.get(FieldId::nvlink_links_up);
  const LinkCounts links = count_links(gpu, snapshot);
  const auto leave = [&out](bool hindered, std::string reason) {
    out.verdict = Verdict::not_tested;
    out.hindered = hindered;
    out.reason = std::move(reason);
  };
  if (gpu.info.mig_enabled) return leave(false, "the card is in MIG mode, without NVLinks");
  if (!reading.ok()) {
    // The driver tells no link where it fails, too.
    if (reading.reason == Reason::not_supported && links.has_others && has_nvlink(gpu.info.name))
      leave(true, "the state of its NVLinks was not told, and this product has them");
    return;
  }
  if (links.here == 0 && !links.has_others)
    return leave(false, "none of its NVLinks is up, and no other card is here to be reached");
  if (links.wanted == 0)
    return leave(false,
                 "no NVLink is up on any card of this kind here, and the product may have none");
  out.value = static_cast<double>(links.here);
  out.unit = "links";
  out.limit = static_cast<double>(links.wanted);
  if (links.here >= links.wanted) return;
  out.verdict = Verdict::fail;
  out.reason = fmt::format("{} of {} NVLinks are up", links.here, links.wanted);
}

TestResult state_of(const StateTest& test, const store::GpuSnapshot& gpu,
                    const store::Snapshot& snapshot, const std::vector<Finding>& findings) {
  TestResult out = begin_state(test, gpu);
  const Reading reading = gpu.readings.get(test.field);
  out.verdict = Verdict::pass;
  if (test.field == FieldId::nvlink_links_up) judge_links(gpu, snapshot, out);
  if (out.verdict == Verdict::fail || (!out.reason.empty() && out.verdict != Verdict::pass))
    return out;
  for (const auto& finding : findings) {
    if (is_about(finding, gpu) && has_rule(test.rules, finding.rule)) take_finding(finding, out);
  }
  if (out.verdict != Verdict::pass) return out;
  if (!reading.ok()) {
    out.verdict = Verdict::not_tested;
    out.hindered = is_hindrance(reading.reason);
    out.reason = fmt::format("{}: {}", field(test.field).name, describe(reading.reason));
  } else if (const auto unread = unread_beside(test.name, gpu); !unread.empty()) {
    out.verdict = Verdict::not_tested;
    out.hindered = true;
    out.reason = unread;
  }
  return out;
}

// A card that can't be opened has no results of its own.
bool is_about_node(const Finding& finding) {
  const bool of_node = finding.entity.kind == EntityKind::node || finding.rule == "gpu-unopened";
  return of_node && finding.severity >= Severity::error;
}

TestResult driver_state(const store::Snapshot& snapshot, const std::vector<Finding>& findings) {
  TestResult out{.name = "driver", .level = 1, .verdict = Verdict::pass};
  for (const auto& finding : findings) {
    if (is_about_node(finding)) take_finding(finding, out);
  }
  if (out.verdict != Verdict::pass) return out;
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
    if (!is_among(gpu, gpus)) continue;
    for (const auto& test : state_tests) out.push_back(state_of(test, gpu, snapshot, findings));
  }
  return out;
}

bool is_suspected(const store::Snapshot& snapshot, const std::vector<Finding>& findings,
                  const std::vector<std::uint32_t>& gpus) {
  const auto is_judged = [&](const Finding& finding) {
    if (is_about_node(finding)) return true;
    const bool has_test = std::ranges::any_of(
        state_tests, [&](const StateTest& test) { return has_rule(test.rules, finding.rule); });
    return has_test && std::ranges::any_of(snapshot.gpus, [&](const store::GpuSnapshot& gpu) {
             return is_among(gpu, gpus) && is_about(finding, gpu);
           });
  };
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.state == FindingState::suspect && finding.severity >= Severity::warning &&
           is_judged(finding);
  });
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
