#include "health/port_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/text.h"
#include "fabric/port_kinds.h"
#include "fabric/port_rules.h"
#include "health/check_text.h"

namespace stoker::health {
namespace {

using fabric::PortAbout;
using fabric::PortRuleRow;

// As many others have to have a link before one without is the odd one: of two or three it may be spare.
constexpr std::size_t fewest_for_odd = 4;
constexpr std::size_t most_steps = 64;   // of one counter; the oldest are added together
constexpr std::size_t most_used = 1024;  // more than any node has; bounds what is remembered

std::string_view together_rule() { return fabric::port_rule(fabric::PortRule::together).rule; }

Severity usual_severity(const PortRuleRow& row) {
  return row.about == PortAbout::port ? row.severity : Severity::info;
}

const PortRuleRow* port_row(std::string_view rule) {
  const auto rows = fabric::all_port_rules();
  const auto found = std::ranges::find(rows, rule, &PortRuleRow::rule);
  return found == rows.end() ? nullptr : &*found;
}

Check check_of_row(const PortRuleRow& row) {
  Check check;
  check.id = row.rule;
  check.title = row.title;
  check.kind = CheckKind::port;
  check.scope = EntityKind::port;
  check.window = row.window;
  check.holds_for = row.holds;
  check.clear_for = std::max<Nanoseconds>(row.holds, Seconds(60));
  check.severity = usual_severity(row);
  check.action = row.action;
  check.message = "{name}: {value}";
  check.cause = row.cause;
  check.fix = row.fix;
  check.source = row.source;
  check.why = "How long it has to be so, and within what time is counted, is our choice";
  check.file = "port_rules.def (built in)";
  return check;
}

// "mlx5_3" of "mlx5_3/1".
std::string_view device_of(const Entity& port) {
  return std::string_view(port.id).substr(0, port.id.find('/'));
}

const RdmaPort* port_of(const RdmaPorts& look, const Entity& entity) {
  const auto found = std::ranges::find_if(
      look.ports, [&](const RdmaPort& port) { return fabric::entity_of(port) == entity; });
  return found == look.ports.end() ? nullptr : &*found;
}

// Could this device's ports not be listed?
bool is_unlisted(const RdmaPorts& look, std::string_view device) {
  return std::ranges::any_of(look.unread, [&](const std::string& line) {
    return line.starts_with(device) && line.substr(device.size()).starts_with(':');
  });
}

const AbsentRdmaDevice* absent_device(const RdmaPorts& look, std::string_view device) {
  const auto found = std::ranges::find(look.absent, device, &AbsentRdmaDevice::device);
  return found == look.absent.end() ? nullptr : &*found;
}

// To a guest (vfio-pci), or with its own driver to another network namespace, where each has its own.
bool is_given_away(const AbsentRdmaDevice* device) {
  return device != nullptr && device->on_bus && !device->driver.empty();
}

std::string where_it_is(const AbsentRdmaDevice* device) {
  if (device == nullptr || !device->pci) return "nobody knows where its card is";
  if (!device->on_bus) return fmt::format("its card {} is not on the bus", device->pci->sysfs());
  return fmt::format("its card {} is on the bus, and no other driver has it", device->pci->sysfs());
}

// It alone of four or more of its kind has no link, and looks for one.
bool is_oddly_down(const RdmaPorts& look, const RdmaPort& port) {
  const auto up = fabric::PortKinds(look.ports).up(port);
  return up.ports >= fewest_for_odd && up.so + 1 == up.ports && port.physical == "Polling";
}

// It alone of four or more linked ports of its kind runs slower than the others.
bool is_oddly_slow(const RdmaPorts& look, const RdmaPort& port) {
  const fabric::PortKinds kinds(look.ports);
  const auto usual = kinds.rate_of_most(port);
  std::size_t linked = 0;
  std::size_t as_usual = 0;
  for (const RdmaPort& other : look.ports) {
    if (!fabric::same_kind(port, other) || !fabric::is_linked(other)) continue;
    ++linked;
    as_usual += other.rate == usual ? 1U : 0U;
  }
  return linked >= fewest_for_odd && as_usual + 1 == linked;
}

bool is_among(const fabric::LostTogether& lost, const RdmaPort& port) {
  return std::ranges::any_of(lost, [&](const auto& of_number) {
    return std::ranges::find(of_number.second, &port) != of_number.second.end();
  });
}

fabric::Counted sum_of(const fabric::Counted& one, const fabric::Counted& other) {
  return {.least = one.least + other.least,
          .exact = one.exact && other.exact && !one.fell && !other.fell};
}

}  // namespace

std::vector<Check> port_checks() {
  std::vector<Check> checks;
  checks.reserve(fabric::all_port_rules().size());
  for (const PortRuleRow& row : fabric::all_port_rules()) checks.push_back(check_of_row(row));
  return checks;
}

void PortChecks::set_checks(const std::vector<Check>& checks) {
  checks_.clear();
  std::ranges::copy_if(checks, std::back_inserter(checks_), [](const Check& check) {
    return check.enabled && check.kind == CheckKind::port;
  });
  std::erase_if(memory_, [&](const auto& entry) { return check_of(entry.first.first) == nullptr; });
}

void PortChecks::remember(const std::string& rule, const Entity& port) {
  told_.insert({rule, port});
  if (rule == fabric::port_rule(fabric::PortRule::down).rule ||
      rule == fabric::port_rule(fabric::PortRule::gone).rule)
    used_.insert(port);
}

const Check* PortChecks::check_of(const std::string& rule) const {
  const auto found = std::ranges::find(checks_, rule, &Check::id);
  return found == checks_.end() ? nullptr : &*found;
}

void PortChecks::watch(const store::Snapshot& snapshot) {
  if (snapshot.ports == nullptr || checks_.empty() || !snapshot.ports->problem.empty()) return;
  node_ = snapshot.hostname;
  if (last_ == nullptr || last_->at < snapshot.ports->at) take(snapshot.ports);
}

std::vector<Finding> PortChecks::evaluate(const store::Snapshot& snapshot) {
  if (snapshot.ports == nullptr || checks_.empty()) return {};
  watch(snapshot);
  const bool known = snapshot.ports->problem.empty();
  const MonotonicTime read_at = last_ == nullptr ? snapshot.taken_at : last_->at;
  std::vector<Finding> findings;
  for (auto& [key, memory] : memory_) {
    const Check& check = *check_of(key.first);
    const Truth truth = known ? memory.truth : Truth::unknown;
    memory.hold.advance(check, truth, read_at, snapshot.taken_at, snapshot.wall, true,
                        truth == Truth::unknown);
    if (!memory.hold.firing() && !memory.hold.suspect()) continue;
    Finding& finding = findings.emplace_back(memory.seen);
    finding.state = memory.hold.firing() ? FindingState::firing : FindingState::suspect;
    finding.since = memory.hold.since();
    finding.evidence.push_back(progress(check, memory.hold));
  }
  std::erase_if(memory_, [this](const auto& entry) {
    if (entry.second.hold.firing() || entry.second.hold.suspect()) return false;
    told_.erase(entry.first);
    return true;
  });
  return findings;
}

void PortChecks::take(std::shared_ptr<const RdmaPorts> now) {
  const auto before = std::exchange(last_, std::move(now));
  const auto is_gone = [&](const auto& entry) {
    return port_of(*last_, entry.first) == nullptr && !is_unlisted(*last_, device_of(entry.first));
  };
  std::erase_if(steps_, is_gone);
  std::erase_if(watched_since_, is_gone);
  for (auto& [key, memory] : memory_) {
    memory.truth = is_told(*check_of(key.first), key.second) ? Truth::no : Truth::unknown;
  }
  for (const RdmaPort& port : last_->ports) note(port, before.get());
  judge_states();
  judge_missing();
  judge_counts();
}

void PortChecks::note(const RdmaPort& port, const RdmaPorts* before) {
  const Entity entity = fabric::entity_of(port);
  watched_since_.try_emplace(entity, last_->at);
  if (fabric::is_linked(port) && used_.size() < most_used) {
    used_.insert(entity);
    auto& fastest = fastest_[entity];
    fastest = std::max(fastest, fabric::gbps_of(port.rate));
  }
  const RdmaPort* then = fabric::same_port(before, port);
  if (then == nullptr) return;
  for (const auto& [name, counted] : fabric::counted_on(*then, port))
    add_step(steps_[entity][name], counted);
}

void PortChecks::add_step(std::deque<Step>& steps, const fabric::Counted& counted) const {
  const bool still_blind = counted.blind && !steps.empty() && steps.back().counted.blind;
  if (still_blind) steps.pop_back();
  steps.push_back({last_->at, counted});
  if (steps.size() <= most_steps) return;
  // With the earlier time: less is told then, never more than what came within the window.
  steps[1] = {steps[0].at, sum_of(steps[0].counted, steps[1].counted)};
  steps.pop_front();
}

bool PortChecks::is_told(const Check& check, const Entity& entity) const {
  if (entity.kind == EntityKind::node)
    return std::ranges::any_of(last_->ports,
                               [](const RdmaPort& one) { return !one.counters.empty(); });
  const RdmaPort* port = port_of(*last_, entity);
  // What is not there has no other trouble than that.
  if (port == nullptr) return !is_unlisted(*last_, device_of(entity));
  if (check.window > Nanoseconds{0}) return !port->counters.empty();
  if (fabric::is_linked(*port) && port->rate.empty()) return false;
  return !port->state.empty() && !port->physical.empty();
}

// Of what is so at one look and depends on what the port was before, or on what others are.
Severity PortChecks::severity_of(const Finding& finding, const RdmaPort& port) const {
  const bool is_down = fabric::is_down(port);
  const bool is_slow = finding.rule == fabric::port_rule(fabric::PortRule::slow).rule;
  if (!is_down && !is_slow) return finding.severity;
  bool fault = told_.contains({finding.rule, finding.entity});
  if (is_down) fault = fault || used_.contains(finding.entity) || is_oddly_down(*last_, port);
  if (is_slow) {
    const auto before = fastest_.find(finding.entity);
    const bool fell = before != fastest_.end() && fabric::gbps_of(port.rate) < before->second;
    fault = fault || fell || is_oddly_slow(*last_, port);
  }
  return fault ? Severity::warning : Severity::info;
}

void PortChecks::judge_states() {
  for (Finding& finding : fabric::judge_ports(*last_, nullptr)) {
    const RdmaPort* port = port_of(*last_, finding.entity);
    if (port == nullptr) continue;
    finding.severity = severity_of(finding, *port);
    if (finding.severity > Severity::info) told_.insert({finding.rule, finding.entity});
    if (fabric::is_down(*port) && used_.contains(finding.entity))
      finding.evidence.emplace_back("it had a link, or was missed before");
    see(std::move(finding));
  }
}

void PortChecks::judge_missing() {
  RdmaPorts missing;
  for (const Entity& entity : used_) {
    const auto device = device_of(entity);
    const bool there = port_of(*last_, entity) != nullptr || is_unlisted(*last_, device);
    if (there || is_given_away(absent_device(*last_, device))) continue;
    const auto number = whole_number<unsigned>(entity.id.substr(device.size() + 1));
    missing.ports.push_back({.device = std::string(device), .port = number.value_or(1)});
  }
  for (Finding& finding : fabric::judge_ports({}, &missing)) {
    finding.evidence.push_back(where_it_is(absent_device(*last_, device_of(finding.entity))));
    see(std::move(finding));
  }
}

std::vector<fabric::PortCount> PortChecks::within(const Entity& port, Nanoseconds window) const {
  std::vector<fabric::PortCount> counts;
  const auto of_port = steps_.find(port);
  if (of_port == steps_.end()) return counts;
  for (const auto& [name, steps] : of_port->second) {
    fabric::Counted sum;
    for (const Step& step : steps) {
      if (last_->at - step.at < window) sum = sum_of(sum, step.counted);
    }
    if (sum.least > 0) counts.push_back({name, sum});
    const Step& newest = steps.back();
    if (newest.at == last_->at && newest.counted.blind) counts.push_back({name, newest.counted});
  }
  return counts;
}

void PortChecks::judge_counts() {
  std::set<Nanoseconds> windows;
  for (const Check& check : checks_) {
    if (check.window > Nanoseconds{0}) windows.insert(check.window);
  }
  for (const Nanoseconds window : windows) judge_counts_within(window);
}

void PortChecks::judge_counts_within(Nanoseconds window) {
  const auto is_of_window = [&](const Finding& finding) {
    const Check* check = check_of(finding.rule);
    return check != nullptr && check->window == window;
  };
  std::vector<fabric::CountedPort> counted;
  counted.reserve(last_->ports.size());
  Nanoseconds longest{0};
  for (const RdmaPort& port : last_->ports) {
    const Entity entity = fabric::entity_of(port);
    counted.push_back({&port, within(entity, window)});
    longest = std::max(longest, last_->at - watched_since_.at(entity));
  }
  fabric::LostTogether lost;
  if (check_of(std::string(together_rule())) != nullptr) lost = fabric::lost_together(counted);
  if (!lost.empty()) {
    Finding finding = fabric::judge_together(node_, lost, std::min(window, longest));
    if (is_of_window(finding)) see(std::move(finding));
  }
  for (const auto& [port, counts] : counted) {
    const auto watched = std::min(window, last_->at - watched_since_.at(fabric::entity_of(*port)));
    for (Finding& finding : fabric::judge_counted(*port, counts, watched)) {
      const bool is_told = finding.rule == fabric::port_rule(fabric::PortRule::flapping).rule &&
                           is_among(lost, *port);
      if (!is_told && is_of_window(finding)) see(std::move(finding));
    }
  }
}

void PortChecks::see(Finding finding) {
  const Check* check = check_of(finding.rule);
  const PortRuleRow* row = port_row(finding.rule);
  if (check == nullptr || row == nullptr) return;
  if (row->about != PortAbout::port) finding.severity = Severity::info;
  if (check->severity != usual_severity(*row)) finding.severity = check->severity;
  finding.action = check->action;
  finding.cause = check->cause;
  finding.fix = check->fix;
  finding.source = check->source;
  Memory& memory = memory_[{finding.rule, finding.entity}];
  memory.truth = Truth::yes;
  memory.seen = std::move(finding);
}

}  // namespace stoker::health
