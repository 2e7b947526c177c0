#include "health/expected.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "health/gpu_view.h"
#include "health/rules.h"

namespace stoker::health {
namespace {

using device::GpuState;
using store::GpuSnapshot;
using store::Snapshot;

// A value of one GPU or NIC, or why there is none.
struct Seen {
  std::string who;
  std::optional<std::string> value;
  std::string why;  // where there is no value
  bool pending = false;
  bool untold = false;     // this kind of card never tells
  bool explained = false;  // the GPU is lost or hangs, which is a finding of its own
};

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

std::string text_of(std::optional<unsigned> number) {
  return number ? std::to_string(*number) : std::string();
}

bool is_telling(const Snapshot& snapshot) {
  return snapshot.source.state == device::SourceState::running;
}

std::string not_read(const Snapshot& snapshot) {
  return fmt::format("the driver is not being read ({})", device::to_string(snapshot.source.state));
}

// Not known: nothing is met, and nothing may be written.
void lacks(Comparison& made, std::string why) {
  made.details.push_back(std::move(why));
  made.unexplained = !made.pending;
  if (!made.expected.empty()) made.match = Match::unknown;
}

Comparison compare_gpus(const Snapshot& snapshot, const Expected& expected) {
  Comparison made{.key = "expect.gpus", .expected = text_of(expected.gpus)};
  if (!is_telling(snapshot)) {
    lacks(made, not_read(snapshot));
    return made;
  }
  unsigned present = 0;
  bool all_known = snapshot.source.unopened_gpus == 0;
  if (!all_known) {
    made.details.push_back(fmt::format("{} more can't be opened", snapshot.source.unopened_gpus));
  }
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    present += gpu.state == GpuState::present ? 1U : 0U;
    if (gpu.state == GpuState::present) continue;
    all_known = false;
    made.details.push_back(fmt::format("{} is {}", name_of(gpu), device::to_string(gpu.state)));
  }
  if (all_known) made.seen = std::to_string(present);
  if (!expected.gpus) return made;
  const bool same = snapshot.source.unopened_gpus == 0 && present == *expected.gpus;
  made.match = same ? Match::met : Match::differs;
  if (!same) {
    const auto there =
        snapshot.gpus.size() + static_cast<std::size_t>(snapshot.source.unopened_gpus);
    made.explained = there == *expected.gpus;
    made.details.insert(made.details.begin(),
                        fmt::format("expected {}, {} answer", *expected.gpus, present));
  }
  return made;
}

Comparison compare_driver(const Snapshot& snapshot, const Expected& expected) {
  Comparison made{.key = "expect.driver", .expected = expected.driver};
  if (!is_telling(snapshot) || !snapshot.driver || snapshot.driver->driver_version.empty()) {
    lacks(made, not_read(snapshot));
    return made;
  }
  made.seen = snapshot.driver->driver_version;
  if (expected.driver.empty()) return made;
  made.match = *made.seen == expected.driver ? Match::met : Match::differs;
  if (made.match == Match::differs) made.details.push_back("the driver is " + *made.seen);
  return made;
}

// Of each GPU one value, against what `accepts` it; `made` has key and expectation.
void judge_each(const std::vector<Seen>& all,
                const std::function<bool(const std::string&)>& accepts, Comparison& made) {
  std::set<std::string> values;
  bool unknown = all.empty();
  bool wrong = false;
  for (const Seen& one : all) {
    if (!one.value) {
      unknown = true;
      made.pending = made.pending || one.pending;
      made.untold = made.untold || one.untold;
      made.unexplained = made.unexplained || !(one.pending || one.explained);
      made.details.push_back(fmt::format("{}: {}", one.who, one.why));
      continue;
    }
    values.insert(*one.value);
    if (made.expected.empty() || accepts(*one.value)) continue;
    wrong = true;
    made.details.push_back(fmt::format("{}: {}", one.who, *one.value));
  }
  made.mixed = !unknown && values.size() > 1;
  if (!unknown && values.size() == 1) made.seen = *values.begin();
  if (made.expected.empty()) return;
  made.match = wrong ? Match::differs : unknown ? Match::unknown : Match::met;
}

// What `value` tells of each GPU; of those that are lost or hang it is not asked.
std::vector<Seen> each_gpu(const Snapshot& snapshot,
                           const std::function<Seen(const GpuSnapshot&)>& value) {
  std::vector<Seen> all;
  if (!is_telling(snapshot)) return {{.who = "node", .why = not_read(snapshot)}};
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    Seen seen = gpu.state == GpuState::present ? value(gpu) : Seen{};
    if (gpu.state != GpuState::present) {
      seen.why = std::string("is ") + device::to_string(gpu.state);
      seen.explained = true;
    }
    seen.who = name_of(gpu);
    all.push_back(std::move(seen));
  }
  return all;
}

Seen of_reading(const GpuSnapshot& gpu, FieldId id) {
  const Reading reading = gpu.readings.get(id);
  if (!reading.ok()) {
    return {.why = to_string(reading.reason),
            .pending = reading.reason == Reason::pending,
            .untold = reading.reason == Reason::not_supported};
  }
  return {.value = std::to_string(static_cast<std::int64_t>(as_double(reading.value)))};
}

Comparison compare_products(const Snapshot& snapshot, const Expected& expected) {
  Comparison made{.key = "expect.product", .expected = joined(expected.products)};
  const auto all = each_gpu(snapshot, [](const GpuSnapshot& gpu) {
    return gpu.info.name.empty() ? Seen{.why = "has no name"} : Seen{.value = gpu.info.name};
  });
  judge_each(
      all,
      [&](const std::string& name) {
        return std::ranges::find(expected.products, name) != expected.products.end();
      },
      made);
  if (!made.mixed) return made;
  // Several products are no fault by themselves: they can be expected as a list.
  std::set<std::string> names;
  for (const Seen& one : all) names.insert(*one.value);
  made.seen = fmt::format("{}", fmt::join(names, ","));
  made.mixed = false;
  return made;
}

Comparison compare_number(const Snapshot& snapshot, std::string_view key,
                          std::optional<unsigned> expected,
                          const std::function<Seen(const GpuSnapshot&)>& value) {
  Comparison made{.key = key, .expected = text_of(expected)};
  judge_each(
      each_gpu(snapshot, value), [&](const std::string& seen) { return seen == made.expected; },
      made);
  return made;
}

Seen links_up(const GpuSnapshot& gpu) {
  if (gpu.info.nvlinks.empty()) return {.value = "0"};
  return of_reading(gpu, FieldId::nvlink_links_up);
}

Seen generation(const GpuSnapshot& gpu) {
  if (gpu.info.max_pcie_generation == 0) return {.why = "not told by the driver", .untold = true};
  return {.value = std::to_string(gpu.info.max_pcie_generation)};
}

// Behind the name of a NIC that is not as expected.
constexpr std::string_view nic_missing = ": is not there";
constexpr std::string_view nic_port_is = ": its port is ";

// Only NICs with an active port can be relied on, so only those are seen.
Comparison compare_nics(const Snapshot& snapshot, const Expected& expected) {
  Comparison made{.key = "expect.nics", .expected = joined(expected.nics)};
  if (!snapshot.devices || !snapshot.devices->nics_problem.empty()) {
    made.pending = snapshot.devices == nullptr;
    lacks(made, snapshot.devices ? snapshot.devices->nics_problem : "the NICs are not read yet");
    return made;
  }
  std::vector<std::string> active;
  bool unknown = false;
  bool wrong = false;
  for (const NicInfo& nic : snapshot.devices->nics) {
    if (nic.port_state == "ACTIVE") active.push_back(nic.name);
    unknown = unknown || nic.port_state.empty();
    if (nic.port_state.empty())
      made.details.push_back(nic.name + ": the state of its port is not known");
  }
  for (const std::string& name : expected.nics) {
    const auto nic = std::ranges::find(snapshot.devices->nics, name, &NicInfo::name);
    if (nic == snapshot.devices->nics.end()) {
      made.details.push_back(fmt::format("{}{}", name, nic_missing));
      wrong = true;
    } else if (nic->port_state != "ACTIVE" && !nic->port_state.empty()) {
      made.details.push_back(fmt::format("{}{}{}", name, nic_port_is, nic->port_state));
      wrong = true;
    }
  }
  made.unexplained = unknown;
  if (!unknown) made.seen = joined(active);
  if (!expected.nics.empty()) {
    made.match = wrong ? Match::differs : unknown ? Match::unknown : Match::met;
  }
  return made;
}

RuleId rule_of(std::string_view key) {
  if (key == "expect.gpus") return RuleId::expected_gpus;
  if (key == "expect.product") return RuleId::expected_product;
  if (key == "expect.driver") return RuleId::expected_driver;
  if (key == "expect.nics") return RuleId::expected_nics;
  if (key == "expect.nvlinks") return RuleId::expected_nvlinks;
  return RuleId::expected_pcie;
}

}  // namespace

const char* to_string(Match match) {
  switch (match) {
    case Match::not_expected: return "not_expected";
    case Match::met: return "met";
    case Match::differs: return "differs";
    case Match::unknown: return "unknown";
  }
  return "unknown";
}

std::vector<Comparison> compare(const Snapshot& snapshot, const Expected& expected) {
  std::vector<Comparison> all;
  all.push_back(compare_gpus(snapshot, expected));
  all.push_back(compare_products(snapshot, expected));
  all.push_back(compare_driver(snapshot, expected));
  all.push_back(compare_nics(snapshot, expected));
  all.push_back(compare_number(snapshot, "expect.nvlinks", expected.nvlinks, links_up));
  all.push_back(
      compare_number(snapshot, "expect.pcie_generation", expected.pcie_generation, generation));
  all.push_back(
      compare_number(snapshot, "expect.pcie_width", expected.pcie_width,
                     [](const GpuSnapshot& gpu) { return of_reading(gpu, FieldId::pcie_width); }));
  return all;
}

std::vector<std::string> wrong_nics(const Finding& finding) {
  std::vector<std::string> names;
  if (finding.rule != rule(RuleId::expected_nics).name) return names;
  for (const std::string& line : finding.evidence) {
    const auto at = std::min(line.find(nic_missing), line.find(nic_port_is));
    if (at != std::string::npos) names.push_back(line.substr(0, at));
  }
  return names;
}

std::vector<Finding> expected_findings(const Snapshot& snapshot, const Expected& expected) {
  std::vector<Finding> findings;
  // A driver that is not read has findings of its own, and nothing can be compared with it.
  if (!is_telling(snapshot)) return findings;
  for (Comparison& made : compare(snapshot, expected)) {
    const bool unknown = made.match == Match::unknown && made.unexplained;
    if (made.match != Match::differs && !unknown) continue;
    const Rule& row = rule(rule_of(made.key));
    const bool differs = made.match == Match::differs;
    Finding finding =
        finding_by(row.name, row, {EntityKind::node, snapshot.hostname},
                   fmt::format("{} is {}, and {}", made.key, made.expected,
                               differs ? "this node differs" : "that can't be told now"),
                   std::move(made.details));
    if (!differs) finding.severity = Severity::warning;
    // A card that is lost is one fault, which is told as the card's.
    if (made.explained) finding.severity = Severity::info;
    finding.state = differs ? FindingState::firing : FindingState::suspect;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace stoker::health
