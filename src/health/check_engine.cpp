#include "health/check_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace stoker::health {
namespace {

using store::Snapshot;

std::vector<Check> enabled(std::vector<Check> checks) {
  std::erase_if(checks, [](const Check& check) { return !check.enabled; });
  return checks;
}

// How many Xids of these numbers the GPU had since it is watched.
double xids_of(const Check& check, const store::GpuSnapshot& gpu) {
  std::uint64_t count = 0;
  for (const std::uint32_t xid : check.xids) {
    const auto found = gpu.xids.find(xid);
    if (found != gpu.xids.end()) count += found->second.count;
  }
  return static_cast<double>(count);
}

// What the trend makes of the value, for kinds that look at more than the newest.
std::optional<double> trended(const Check& check, const Trend& trend) {
  switch (check.kind) {
    case CheckKind::rate:
      return unit_of(check) == Unit::percent ? trend.percent_of_time(check.window)
                                             : trend.increase(check.window);
    case CheckKind::frequency: return trend.increase(check.window);
    case CheckKind::peers: return trend.increase(check.window);
    case CheckKind::delta:
      return check.since == Since::first ? trend.since_first() : trend.since_last();
    default: return std::nullopt;
  }
}

bool needs_trend(const Check& check) {
  return check.kind == CheckKind::rate || check.kind == CheckKind::delta ||
         check.kind == CheckKind::frequency ||
         (check.kind == CheckKind::peers && check.window > Nanoseconds{0});
}

Truth truth_of(const Check& check, const Measured& value, const Measured& limit) {
  if (check.kind != CheckKind::absence) return compare(check.condition, value, limit);
  if (value.number) return Truth::no;
  const bool listed = std::ranges::find(check.reasons, value.reason) != check.reasons.end();
  return listed ? Truth::yes : Truth::unknown;
}

// There is something to be told, and the driver or the kernel does not tell it.
bool reading_fails(Reason reason) {
  switch (reason) {
    case Reason::no_permission:
    case Reason::lost:
    case Reason::hung:
    case Reason::stale:
    case Reason::invalid:
    case Reason::driver_gone:
    case Reason::failed: return true;
    case Reason::ok:
    case Reason::pending:
    case Reason::not_supported:
    case Reason::no_source: return false;
  }
  return true;
}

Finding finding_of(const Check& check, const Subject& subject, const Seen& seen, const Hold& hold) {
  Finding finding;
  finding.rule = check.id;
  finding.severity = check.severity;
  finding.state = hold.firing() ? FindingState::firing : FindingState::suspect;
  finding.since = hold.since();
  finding.entity = subject.entity;
  finding.message = message_of(check, subject.name, seen);
  finding.cause = check.cause;
  finding.action = check.action;
  finding.fix = check.fix;
  finding.source = check.source;
  return finding;
}

bool asks_of_job(const Check& check) {
  const auto asks = [](const Condition& condition) {
    return std::ranges::any_of(condition.operands, &Operand::is_of_job);
  };
  return asks(check.condition) || std::ranges::any_of(check.meanwhile, asks);
}

bool asks_of_links_alone(const Check& check) {
  if (check.scope != EntityKind::nvlink) return true;
  const auto of_links = [](const Condition& condition) {
    const bool limit_too = !condition.limit.of || condition.limit.of->entity == EntityKind::nvlink;
    return limit_too && std::ranges::all_of(condition.operands, [](const Operand& operand) {
             return operand.entity == EntityKind::nvlink;
           });
  };
  return check.kind != CheckKind::frequency && of_links(check.condition) &&
         std::ranges::all_of(check.meanwhile, of_links);
}

// Changes with every reading of a link that is new, and with each that grew stale.
std::uint64_t sum_of_links(const Snapshot& snapshot) {
  std::uint64_t sum = snapshot.gpus.size();
  const auto add = [&sum](std::uint64_t word) { sum = (sum ^ word) * 0x100000001b3; };  // FNV-1a
  for (const auto& gpu : snapshot.gpus) {
    for (const auto& [link, readings] : gpu.nvlinks) {
      add(link);
      for (const auto& [field, reading] : readings.all()) {
        add(static_cast<std::uint64_t>(reading.taken_at.since_boot.count()));
        add(static_cast<std::uint64_t>(reading.reason));
      }
    }
  }
  return sum;
}

bool is_about_all_gpus(const Check& check) {
  return check.scope == EntityKind::node && !check.condition.operands.empty() &&
         check.condition.operands.front().entity == EntityKind::gpu;
}

// The GPU whose value comes nearest to not meeting the condition.
bool is_milder(const Condition& condition, const Measured& one, const Measured& other) {
  const bool high = condition.is == Relation::above || condition.is == Relation::at_least;
  return high ? *one.number < *other.number : *one.number > *other.number;
}

// Whose values may be compared with this one's; nullopt: nobody's.
std::optional<std::string> peers_of(const Check& check, const Subject& subject) {
  if (check.among == Among::node) return subject.gpu->info.name;
  if (subject.work == nullptr || subject.work->job.empty()) return std::nullopt;
  return subject.gpu->info.name + '\n' + subject.work->job;
}

}  // namespace

struct CheckEngine::Now {
  Now(const Snapshot& of, Links with_links)
      : snapshot(of),
        links(with_links),
        work(look_at_jobs(of)),
        subjects(subjects_of(of, work, links)) {}

  const Snapshot& snapshot;
  Links links;
  std::vector<CardWork> work;
  std::vector<Subject> subjects;  // point into both
};

CheckEngine::CheckEngine(std::vector<Check> checks)
    : checks_(enabled(std::move(checks))),
      links_alone_(std::ranges::all_of(checks_, asks_of_links_alone)) {
  ports_.set_checks(checks_);
}

void CheckEngine::set_checks(std::vector<Check> checks) {
  checks = enabled(std::move(checks));
  std::map<std::size_t, std::size_t> stays;  // index now -> index from now on
  for (std::size_t index = 0; index < checks.size(); ++index) {
    const auto same = std::ranges::find(checks_, checks[index]);
    if (same != checks_.end()) stays[static_cast<std::size_t>(same - checks_.begin())] = index;
  }
  for (auto& [entity, memory] : memory_) {
    std::map<std::size_t, Memory> kept;
    for (auto& [index, of_check] : memory.checks) {
      const auto found = stays.find(index);
      if (found != stays.end()) kept.emplace(found->second, std::move(of_check));
    }
    memory.checks = std::move(kept);
  }
  checks_ = std::move(checks);
  links_alone_ = std::ranges::all_of(checks_, asks_of_links_alone);
  links_held_ = true;  // new ones have not looked at links yet
  ports_.set_checks(checks_);
}

bool CheckEngine::must_look_at_links(const Snapshot& snapshot) {
  const std::uint64_t seen = sum_of_links(snapshot);
  const bool changed = std::exchange(links_seen_, seen) != seen;
  return changed || links_held_ || !links_alone_;
}

// First sights, and forgets what is gone.
void CheckEngine::remember(const Now& now) {
  for (auto& [entity, memory] : memory_) {
    memory.present = now.links == Links::left_out && entity.kind == EntityKind::nvlink;
  }
  for (const Subject& subject : now.subjects) {
    auto& memory =
        memory_.try_emplace(subject.entity, EntityMemory{.first_seen = now.snapshot.taken_at})
            .first->second;
    memory.present = true;
  }
  std::erase_if(memory_, [](const auto& entry) { return !entry.second.present; });
}

void CheckEngine::measure(const Check& check, const Now& now, Case& one) {
  const MonotonicTime taken_at = now.snapshot.taken_at;
  Trend& trend = one.memory->trend;
  if (check.kind == CheckKind::frequency) {
    // Counts begin with the agent, so what is there at first sight came since.
    trend.add({one.entity->first_seen.since_boot - Nanoseconds{1}}, 0, check.window, true);
    one.value = {.number = xids_of(check, *one.subject->gpu), .reason = Reason::ok, .at = taken_at};
  } else {
    one.value = sum_of(check.condition.operands, *one.subject);
  }
  if (needs_trend(check) && one.value.number) {
    const auto& operands = check.condition.operands;
    const bool counter = operands.empty() || operands.front().is_counter();
    trend.add(one.value.at, *one.value.number, check.window, counter);
    one.value.number = trended(check, trend);
    if (!one.value.number) one.value.reason = Reason::pending;
  }
  one.limit = limit_of(check.condition.limit, *one.subject);
  one.meanwhile = meanwhile(check, *one.subject);
}

// Replaces each value by its distance from the others' median. Comparable are entities of one peers_of() that meet the
// further conditions.
void CheckEngine::compare_with_peers(const Check& check, std::vector<Case>& cases) {
  if (check.kind != CheckKind::peers) return;
  std::map<std::string, std::vector<double>> by_peers;
  for (const Case& one : cases) {
    const auto peers = peers_of(check, *one.subject);
    if (!one.value.number || one.meanwhile != Truth::yes || !peers) continue;
    by_peers[*peers].push_back(*one.value.number);
  }
  for (auto& [peers, values] : by_peers) std::ranges::sort(values);
  for (Case& one : cases) {
    if (!one.value.number) continue;
    std::optional<double> median;
    const auto peers = peers_of(check, *one.subject);
    if (one.meanwhile == Truth::yes && peers) {
      median = median_of_others(by_peers[*peers], *one.value.number);
    }
    one.value.reason = Reason::no_source;
    one.value.number = median ? std::optional(*one.value.number - *median) : std::nullopt;
  }
}

void CheckEngine::conclude(const Check& check, const Now& now, Case& one,
                           std::vector<Finding>& out) {
  const Snapshot& snapshot = now.snapshot;
  Memory& memory = *one.memory;
  MonotonicTime begin = one.entity->first_seen;
  if (one.subject->gpu != nullptr) begin = std::max(begin, one.subject->gpu->state_since);
  const bool grace_is_over = snapshot.taken_at - begin >= check.boot_grace;
  memory.hold.advance(check, one.truth, one.value.at, snapshot.taken_at, snapshot.wall,
                      grace_is_over, reading_fails(one.value.reason));
  if (one.truth == Truth::yes) {
    memory.seen = {.value = one.value.number.value_or(0),
                   .limit = one.limit.number,
                   .reason = one.value.number ? Reason::ok : one.value.reason,
                   .work = one.subject->work == nullptr ? "" : one.subject->work->story};
  }
  if (!memory.hold.firing() && !memory.hold.suspect()) return;
  links_held_ = links_held_ || check.scope == EntityKind::nvlink;
  Finding finding = finding_of(check, *one.subject, memory.seen, memory.hold);
  if (!is_about_all_gpus(check)) {
    tell_readings(check, *one.subject, snapshot.taken_at, finding.evidence);
  }
  if (one.subject->work != nullptr && asks_of_job(check)) {
    const auto& lines = one.subject->work->evidence;
    finding.evidence.insert(finding.evidence.end(), lines.begin(), lines.end());
  }
  if (check.kind != CheckKind::absence) {
    finding.evidence.push_back(limit_line(check, memory.seen));
  }
  finding.evidence.push_back(progress(check, memory.hold));
  if (!grace_is_over) {
    finding.evidence.push_back("waits until " + format_duration(check.boot_grace) +
                               " after the start");
  }
  out.push_back(std::move(finding));
}

// A check of the node that asks for something of its GPUs: all of them have to meet it, and there have to be two,
// for one alone says nothing about its node.
void CheckEngine::run_for_all_gpus(std::size_t index, const Now& now, std::vector<Finding>& out) {
  const Check& check = checks_[index];
  const Subject& node = now.subjects.front();
  EntityMemory& entity = memory_.at(node.entity);
  Case all{.subject = &node, .entity = &entity, .memory = &entity.checks[index]};
  all.truth = Truth::yes;
  std::size_t count = 0;
  for (const Subject& subject : now.subjects) {
    if (subject.entity.kind != EntityKind::gpu || !applies_to(check, *subject.gpu)) continue;
    ++count;
    const Measured value = sum_of(check.condition.operands, subject);
    const Measured limit = limit_of(check.condition.limit, subject);
    all.truth =
        both(all.truth, both(compare(check.condition, value, limit), meanwhile(check, subject)));
    if (!value.number) continue;
    if (all.value.number && !is_milder(check.condition, value, all.value)) continue;
    all.value = value;
    all.limit = limit;
  }
  if (count < 2) all.truth = Truth::unknown;
  conclude(check, now, all, out);
}

void CheckEngine::run(std::size_t index, const Now& now, std::vector<Finding>& out) {
  const Check& check = checks_[index];
  if (is_about_all_gpus(check)) return run_for_all_gpus(index, now, out);
  std::vector<Case> cases;
  for (const Subject& subject : now.subjects) {
    if (subject.entity.kind != check.scope) continue;
    if (subject.gpu != nullptr && !applies_to(check, *subject.gpu)) continue;
    EntityMemory& entity = memory_.at(subject.entity);
    Case& one = cases.emplace_back(
        Case{.subject = &subject, .entity = &entity, .memory = &entity.checks[index]});
    measure(check, now, one);
  }
  compare_with_peers(check, cases);
  for (Case& one : cases) {
    one.truth = both(truth_of(check, one.value, one.limit), one.meanwhile);
    conclude(check, now, one, out);
  }
}

std::vector<Finding> CheckEngine::evaluate(const Snapshot& snapshot) {
  const Now now(snapshot, must_look_at_links(snapshot) ? Links::too : Links::left_out);
  remember(now);
  links_held_ = false;
  std::vector<Finding> findings;
  for (std::size_t index = 0; index < checks_.size(); ++index) run(index, now, findings);
  std::ranges::move(ports_.evaluate(snapshot), std::back_inserter(findings));
  std::ranges::sort(findings, [](const Finding& a, const Finding& b) {
    return std::tie(b.severity, a.rule, a.entity) < std::tie(a.severity, b.rule, b.entity);
  });
  return findings;
}

}  // namespace stoker::health
