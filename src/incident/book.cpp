#include "incident/book.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace stoker::incident {
namespace {

// Of what follows, from the last that was seen. The driver's follow-up lines come within seconds; a program needs up to
// its collective library's time-out to notice, which is its owner's matter and not the GPU's.
constexpr Seconds fresh_for{120};

Cause cause_of(const Incident& incident) { return cause_named(incident.cause, incident.severity); }

bool is_fresh(const Incident& incident, WallTime at) {
  return at.since_epoch - incident.last_seen.since_epoch <= fresh_for &&
         incident.opened_at.since_epoch - at.since_epoch <= fresh_for;
}

bool same_subject(const Incident& incident, const Signal& signal) {
  return incident.subject.empty() || signal.subject.empty() || incident.subject == signal.subject;
}

enum class Fit : std::uint8_t { none, follows, precedes, family, same };

bool meets_same_program(const Incident& incident, const Signal& signal) {
  return std::ranges::find_first_of(incident.programs, signal.programs) != incident.programs.end();
}

// Can what is of `family` be about the incident's thing, although it is said of another?
bool reaches(Family family, const Incident& incident, const Signal& signal) {
  if (incident.entity == signal.entity) return true;
  if (family == Family::application) return meets_same_program(incident, signal);
  if (family != Family::link) return false;
  // Both ends of a link complain, or a switch and a GPU on it.
  const bool with_switch =
      incident.entity.kind == EntityKind::nvswitch || signal.entity.kind == EntityKind::nvswitch;
  return with_switch || (!incident.pci.empty() &&
                         std::ranges::find(signal.linked, incident.pci) != signal.linked.end());
}

// How `signal` belongs to `incident`, which is not over.
Fit fit(const Incident& incident, const Signal& signal) {
  const Cause head = cause_of(incident);
  const bool here = incident.entity == signal.entity;
  if (here && head.word == signal.cause.word && incident.subject == signal.subject) {
    return Fit::same;
  }
  const Family family = signal.cause.family;
  // That a card which is off the bus, or whose firmware failed, can't be opened is no news, however late it is said.
  // Anything else is, for the card may be back.
  const bool is_still_gone =
      here && incident.stands && follows(family, head.family) && family == Family::unopened;
  if (!is_still_gone && !is_fresh(incident, signal.at)) return Fit::none;
  if (follows(family, head.family) && reaches(family, incident, signal)) return Fit::follows;
  if (here && follows(head.family, family)) return Fit::precedes;
  if (family != head.family || family == Family::other || !reaches(family, incident, signal)) {
    return Fit::none;
  }
  const bool of_programs = family == Family::application;
  return of_programs && !same_subject(incident, signal) ? Fit::none : Fit::family;
}

// The incident that `signal` belongs to; nullptr: none.
template <typename Incidents>
auto best_home(Incidents& incidents, const Signal& signal) -> decltype(&incidents.begin()->second) {
  decltype(&incidents.begin()->second) best = nullptr;
  Fit best_fit = Fit::none;
  for (auto& [id, incident] : incidents) {
    if (is_over(incident)) continue;
    const Fit how = fit(incident, signal);
    // Among equals the newest.
    if (how == Fit::none || how < best_fit) continue;
    best = &incident;
    best_fit = how;
  }
  return best;
}

// What has held for long is found now.
Signal as_news(Signal finding, WallTime now) {
  finding.at = std::max(finding.at, WallTime{now.since_epoch - fresh_for});
  return finding;
}

bool is_same(const Finding& one, const Finding& other) {
  return one.rule == other.rule && one.entity == other.entity;
}

bool holds(const Incident& incident, const Finding& finding) {
  return std::ranges::any_of(incident.findings,
                             [&](const Finding& held) { return is_same(held, finding); });
}

// The driver's `fix`, and what has to be done after it where `action` is more than the driver can ask for.
std::string with_what_comes_after(const std::string& fix, Action action, const std::string& then) {
  using enum Action;
  const bool more = action == field_diag || action == replace || action == inspect_cable;
  return more && !then.empty() ? fmt::format("{}. After that: {}", fix, then) : fix;
}

// What people are told when it changes.
std::string told_of(const Incident& incident) {
  return fmt::format("{} {} {} {} {} {} {} {}", to_string(incident.state), incident.cause,
                     incident.about, incident.pci, incident.serial, to_string(incident.severity),
                     to_string(incident.action), incident.action_of_driver);
}

std::string cut(const std::string& text) {
  return text.size() <= BookLimits::text_bytes ? text : text.substr(0, BookLimits::text_bytes);
}

// Is its state told now, so that a finding's absence says something?
bool is_known(const Entity& entity, const NodeView& node) {
  if (entity.kind == EntityKind::node) return node.reading;
  if (entity.kind == EntityKind::port) return node.ports_known;
  if (entity.kind != EntityKind::gpu && entity.kind != EntityKind::mig &&
      entity.kind != EntityKind::nvlink) {
    return true;
  }
  // "<gpu uuid>/<link>"; a MIG instance's UUID does not say whose it is.
  if (entity.kind == EntityKind::mig) return node.reading;
  const std::string_view gpu = std::string_view(entity.id).substr(0, entity.id.find('/'));
  const auto found = std::ranges::find_if(node.gpus, [&](const NodeView::Gpu& one) {
    return one.uuid == gpu || one.pci.sysfs() == gpu;
  });
  return found != node.gpus.end() && found->answers;
}

// Where these were found and are not any more, the GPU was reset or came back.
bool says_of_recovery(const std::string& rule) {
  return rule == "gpu-lost" || rule == "gpu-unopened" || rule == "recovery-action";
}

}  // namespace

void Book::restore(std::vector<Incident> incidents) {
  for (auto& incident : incidents) {
    last_id_ = std::max(last_id_, incident.id);
    told_[incident.id] = told_of(incident);
    incidents_.insert_or_assign(incident.id, std::move(incident));
  }
  make_room();
}

Incident* Book::home_of(const Signal& signal) { return best_home(incidents_, signal); }

bool Book::has_home(const Signal& said, WallTime now) const {
  const Signal signal = of_known_card(said);
  if (!signal.finding) {
    const Incident* home = best_home(incidents_, signal);
    return home != nullptr && home->state != IncidentState::proving;
  }
  for (const auto& [id, incident] : incidents_) {
    if (!is_over(incident) && holds(incident, *signal.finding)) return true;
  }
  const Incident* home = best_home(incidents_, as_news(signal, now));
  return home != nullptr && home->state != IncidentState::proving;
}

bool Book::has_open(const Entity& entity) const {
  return std::ranges::any_of(incidents_, [&](const auto& entry) {
    const Incident& one = entry.second;
    return one.entity == entity && !is_over(one) && one.state != IncidentState::proving;
  });
}

std::uint64_t Book::earlier(const Signal& signal) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(incidents_, [&](const auto& entry) {
    const Incident& one = entry.second;
    if (one.cause != signal.cause.word || one.subject != signal.subject) return false;
    if (!one.serial.empty() && !signal.serial.empty()) return one.serial == signal.serial;
    return one.entity == signal.entity;
  }));
}

Incident& Book::open(const Signal& signal) {
  Incident incident;
  incident.id = ++last_id_;
  incident.severity = Severity::info;
  incident.opened_at = incident.last_seen = signal.at;
  incident.recurrence = earlier(signal);
  Incident& opened = incidents_[incident.id] = std::move(incident);
  take_over(opened, signal);
  note(opened, signal.at, "stoker", "opened");
  for (const auto& old : recalled_[signal.entity]) add_evidence(opened, old.at, old.text);
  recalled_.erase(signal.entity);
  return opened;
}

void Book::recall(const Signal& signal) {
  if (recalled_.size() >= BookLimits::recalled_things && !recalled_.contains(signal.entity)) return;
  auto& of_it = recalled_[signal.entity];
  of_it.push_back({signal.at, cut(signal.evidence)});
  if (of_it.size() > BookLimits::recalled) of_it.erase(of_it.begin());
}

void Book::take_over(Incident& incident, const Signal& signal) {
  if (!incident.cause.empty() && incident.cause != signal.cause.word) {
    note(incident, signal.at, "stoker",
         fmt::format("the cause is {}, not {}", signal.cause.word, incident.cause));
  }
  const bool same_thing = incident.entity == signal.entity;
  incident.cause = signal.cause.word;
  incident.entity = signal.entity;
  incident.subject = signal.subject;
  incident.about = signal.about;
  // A card that does not answer any more is still the card that it was.
  if (!same_thing || !signal.pci.empty()) incident.pci = signal.pci;
  if (!same_thing || !signal.serial.empty()) incident.serial = signal.serial;
  incident.severity = std::max(incident.severity, signal.severity);
  incident.message = signal.message;
  if (!signal.explanation.empty()) incident.explanation = signal.explanation;
  if (incident.action_of_driver && !signal.of_driver) {
    incident.fix = with_what_comes_after(incident.fix, signal.action, signal.fix);
    return;
  }
  incident.action = signal.action;
  incident.action_of_driver = signal.of_driver;
  incident.fix = signal.fix;
  incident.source = signal.source;
}

void Book::add_evidence(Incident& incident, WallTime at, const std::string& text) {
  auto& kept = incident.evidence;
  kept.push_back({at, cut(text)});
  if (kept.size() <= BookLimits::first_evidence + BookLimits::last_evidence) return;
  kept.erase(kept.begin() + BookLimits::first_evidence);
  ++incident.evidence_left_out;
}

void Book::note(Incident& incident, WallTime at, std::string who, std::string what) {
  auto& kept = incident.timeline;
  kept.push_back({at, std::move(who), std::move(what)});
  // The first says how it began.
  if (kept.size() > BookLimits::timeline) kept.erase(std::next(kept.begin()));
  changed_.insert(incident.id);
}

void Book::be(Incident& incident, IncidentState state, WallTime now) {
  if (incident.state == state) return;
  incident.state = state;
  if (state != IncidentState::proving) incident.proving_since.reset();
  if (state == IncidentState::proving) incident.proving_since = now;
  if (state != IncidentState::suppressed) incident.suppressed_until.reset();
  if (state == IncidentState::resolved) incident.resolved_at = now;
  changed_.insert(incident.id);
}

void Book::join(Incident& incident, const Signal& signal) {
  const Cause head = cause_of(incident);
  if (incident.state == IncidentState::proving) {
    be(incident, IncidentState::open, signal.at);
    note(incident, signal.at, "stoker", "seen again");
  }
  const Severity known = incident.severity;
  const bool same = signal.cause.word == head.word && signal.entity == incident.entity;
  // The first line of a cause says it best; of a program that fails again, the last says which it is now.
  const bool of_now = head.family == Family::application && signal.action == incident.action;
  // Nor is what asks for nothing the best that is said where something is to be done.
  const bool asks = incident.action == Action::observe && signal.action != Action::observe &&
                    signal.severity >= known;
  if (signal.cause.rank > head.rank || (same && (of_now || asks || signal.severity > known))) {
    take_over(incident, signal);
  } else if (same && incident.explanation.empty()) {
    incident.explanation = signal.explanation;
  }
  // Whatever the cause: what the driver asks for is to be done.
  if (signal.of_driver) {
    if (!incident.action_of_driver) {
      incident.fix = with_what_comes_after(signal.fix, incident.action, incident.fix);
    }
    incident.action = signal.action;
    incident.action_of_driver = true;
    incident.source = signal.source;
    incident.severity = std::max(incident.severity, signal.severity);
  }
  const bool hushed =
      incident.state == IncidentState::acknowledged || incident.state == IncidentState::suppressed;
  if (hushed && (incident.severity > known || incident.cause != head.word)) {
    be(incident, IncidentState::open, signal.at);
    note(incident, signal.at, "stoker", "open again: it is worse than it was");
  }
  incident.last_seen = std::max(incident.last_seen, signal.at);
  if (!signal.boot.empty()) incident.boot = signal.boot;
  if (!signal.finding && signal.cause.stands) incident.stands = true;
  for (const auto& program : signal.programs) {
    if (incident.programs.size() >= BookLimits::programs) break;
    if (std::ranges::find(incident.programs, program) == incident.programs.end()) {
      incident.programs.push_back(program);
    }
  }
  ++incident.occurrences;
  add_evidence(incident, signal.at, signal.evidence);
  changed_.insert(incident.id);
}

// A card that can't be opened has no UUID, and is the card that was at this address.
Signal Book::of_known_card(Signal signal) const {
  if (signal.entity.kind != EntityKind::gpu || signal.entity.id != signal.pci) return signal;
  for (const auto& [id, incident] : incidents_) {
    if (is_over(incident) || incident.entity.kind != EntityKind::gpu) continue;
    if (incident.pci == signal.pci) signal.entity = incident.entity;
  }
  return signal;
}

void Book::hear(const Signal& said) {
  const Signal signal = of_known_card(said);
  Incident* home = home_of(signal);
  Incident& incident = home == nullptr ? open(signal) : *home;
  join(incident, signal);
  make_room();
}

void Book::hold_finding(Incident& incident, const Signal& signal) {
  const auto held = std::ranges::find_if(
      incident.findings, [&](const Finding& one) { return is_same(one, *signal.finding); });
  if (held == incident.findings.end()) {
    join(incident, signal);
    incident.findings.push_back(*signal.finding);
    return;
  }
  *held = *signal.finding;
  incident.last_seen = std::max(incident.last_seen, signal.at);
}

void Book::find(std::span<const Signal> signals, const NodeView& node, WallTime now) {
  using Name = std::pair<std::string, Entity>;
  std::set<Name> found;
  std::map<Name, Incident*> homes;
  for (auto& [id, incident] : incidents_) {
    for (const auto& held : incident.findings) homes[{held.rule, held.entity}] = &incident;
  }
  for (const Signal& told : signals) {
    const Name name{told.finding->rule, told.finding->entity};
    if (!found.insert(name).second) continue;
    const Signal signal = of_known_card(told);
    const auto known = homes.find(name);
    Incident* home = known == homes.end() ? nullptr : known->second;
    if (home == nullptr || is_over(*home)) {
      home = home_of(as_news(signal, now));
      if (home == nullptr) home = &open(signal);
    }
    hold_finding(*home, signal);
  }
  for (auto& [id, incident] : incidents_) {
    if (!is_over(incident)) let_go(incident, found, node, now);
  }
  make_room();
}

void Book::let_go(Incident& incident, const std::set<std::pair<std::string, Entity>>& found,
                  const NodeView& node, WallTime now) {
  bool recovered = false;
  const auto gone = std::erase_if(incident.findings, [&](const Finding& held) {
    if (found.contains({held.rule, held.entity}) || !is_known(held.entity, node)) return false;
    recovered |= says_of_recovery(held.rule);
    return true;
  });
  if (gone > 0) changed_.insert(incident.id);
  // As long as it is found, it is seen.
  if (!incident.findings.empty()) incident.last_seen = std::max(incident.last_seen, now);
  if (incident.stands && is_known(incident.entity, node)) {
    const bool booted = !incident.boot.empty() && !node.boot.empty() && incident.boot != node.boot;
    if (booted) stand_no_more(incident, "the node was booted", now);
    if (recovered) stand_no_more(incident, "the GPU answers and asks for nothing", now);
  }
  if (gone > 0) prove(incident, now);
}

void Book::stand_no_more(Incident& incident, const std::string& why, WallTime now) {
  if (!incident.stands) return;
  incident.stands = false;
  note(incident, now, "stoker", why);
  prove(incident, now);
}

void Book::hear_recovered(const Entity& gpu, WallTime at) {
  for (auto& [id, incident] : incidents_) {
    if (is_over(incident) || incident.entity != gpu) continue;
    stand_no_more(incident, "the driver asks for nothing any more", at);
  }
}

void Book::prove(Incident& incident, WallTime now) {
  if (incident.stands || !incident.findings.empty()) return;
  if (incident.state == IncidentState::proving || incident.state == IncidentState::suppressed)
    return;
  be(incident, IncidentState::proving, now);
  note(incident, now, "stoker", "proving: nothing of it holds now");
}

void Book::pass(Incident& incident, WallTime now) {
  if (incident.state == IncidentState::suppressed && incident.suppressed_until <= now) {
    be(incident, IncidentState::open, now);
    note(incident, now, "stoker", "no longer suppressed");
  }
  if (incident.stands || !incident.findings.empty()) return;
  const Nanoseconds enough = cause_of(incident).quiet;
  if (now.since_epoch - incident.last_seen.since_epoch < enough) return;
  be(incident, IncidentState::resolved, now);
  note(incident, now, "stoker",
       fmt::format("resolved: nothing seen for {}", format_duration(enough)));
}

void Book::pass(WallTime now) {
  for (auto& [id, incident] : incidents_) {
    if (!is_over(incident)) pass(incident, now);
  }
  make_room();
}

void Book::look(const std::function<std::optional<Look>(const Incident&)>& due) {
  for (auto& [id, incident] : incidents_) {
    auto look = due(incident);
    if (!look) continue;
    incident.looks.push_back(std::move(*look));
    changed_.insert(id);
  }
}

Result<Incident> Book::request(std::uint64_t id, const Request& request, WallTime now) {
  const auto at = incidents_.find(id);
  if (at == incidents_.end()) {
    return fail(ErrorCode::not_found, fmt::format("there is no incident {}", id));
  }
  Incident& incident = at->second;
  if (is_over(incident)) {
    return fail(ErrorCode::invalid_input,
                fmt::format("incident {} is over since {}", id, format_utc(*incident.resolved_at)));
  }
  if (request.to == IncidentState::proving) {
    return fail(ErrorCode::invalid_input,
                "whether an incident is proving is not for people to say");
  }
  if (request.to == IncidentState::resolved && !incident.findings.empty()) {
    return fail(
        ErrorCode::invalid_input,
        fmt::format("incident {} still holds: {}; suppress it for a time to hear no more of it", id,
                    incident.findings.front().message));
  }
  be(incident, request.to, now);
  std::string what = to_string(request.to);
  if (request.to == IncidentState::suppressed) {
    incident.suppressed_until =
        WallTime{now.since_epoch + request.for_how_long.value_or(Seconds(3600))};
    what += fmt::format(" until {}", format_utc(*incident.suppressed_until));
    changed_.insert(id);
  }
  if (request.to == IncidentState::resolved) incident.stands = false;
  if (!request.note.empty()) what += ": " + cut(request.note);
  note(incident, now, request.who, what);
  return incident;
}

void Book::make_room() {
  std::size_t over = 0;
  for (const auto& [id, incident] : incidents_) over += is_over(incident) ? 1 : 0;
  std::size_t standing = incidents_.size() - over;
  for (auto at = incidents_.begin(); at != incidents_.end();) {
    std::size_t& count = is_over(at->second) ? over : standing;
    const std::size_t most = &count == &over ? BookLimits::resolved : BookLimits::unresolved;
    if (count <= most || changed_.contains(at->first)) {
      ++at;
      continue;
    }
    dropped_ += &count == &standing ? 1 : 0;
    --count;
    told_.erase(at->first);
    at = incidents_.erase(at);
  }
}

std::vector<Incident> Book::take_changed(WallTime now) {
  std::vector<Incident> taken;
  taken.reserve(changed_.size());
  for (const auto id : std::exchange(changed_, {})) {
    Incident& incident = incidents_.at(id);
    auto told = told_of(incident);
    if (std::exchange(told_[id], told) != told) {
      ++incident.revision;
      incident.updated_at = now;
      incident.told = telling_of(incident);
    }
    taken.push_back(incident);
  }
  return taken;
}

std::vector<Incident> Book::one(std::uint64_t id) const {
  const auto at = incidents_.find(id);
  return at == incidents_.end() ? std::vector<Incident>() : std::vector{at->second};
}

std::vector<Incident> Book::all() const {
  std::vector<Incident> copies;
  copies.reserve(incidents_.size());
  for (const auto& [id, incident] : incidents_) copies.push_back(incident);
  return copies;
}

}  // namespace stoker::incident
