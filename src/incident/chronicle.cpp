#include "incident/chronicle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stoker::incident {
namespace {

Entry entry_of(const Finding& finding, Happening what, WallTime now) {
  return {.at = now,
          .what = what,
          .word = finding.rule,
          .entity = finding.entity,
          .severity = finding.severity,
          .action = finding.action.value_or(Action::observe),
          .text = finding.message};
}

// What people are told of it, in words; empty: nothing of that has changed.
std::string change(const Incident& was, const Incident& is) {
  std::vector<std::string> words;
  const auto compare = [&words](std::string_view what, const std::string& before,
                                const std::string& after) {
    if (before != after) words.push_back(fmt::format("{} {}, was {}", what, after, before));
  };
  compare("state", to_string(was.state), to_string(is.state));
  compare("cause", was.cause, is.cause);
  compare("severity", to_string(was.severity), to_string(is.severity));
  compare("action", to_string(was.action), to_string(is.action));
  compare("about", was.about, is.about);
  return fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace

const char* to_string(Happening what) {
  switch (what) {
    case Happening::finding_began: return "began";
    case Happening::finding_ended: return "ended";
    case Happening::incident_opened: return "opened";
    case Happening::incident_changed: return "changed";
    case Happening::incident_ended: return "resolved";
  }
  return "changed";
}

void Chronicle::note(const std::vector<Finding>& found, WallTime now) {
  std::map<std::pair<std::string, Entity>, Finding> firing;
  for (const Finding& finding : found) {
    if (finding.state != FindingState::firing) continue;
    const std::pair key(finding.rule, finding.entity);
    if (!firing_.contains(key) && !firing.contains(key)) {
      entries_.push_back(entry_of(finding, Happening::finding_began, now));
    }
    firing.emplace(key, finding);
  }
  for (const auto& [key, finding] : firing_) {
    if (firing.contains(key)) continue;
    entries_.push_back(entry_of(finding, Happening::finding_ended, now));
  }
  firing_ = std::move(firing);
}

void Chronicle::note_incidents(const std::vector<Incident>& changed, WallTime now) {
  for (const Incident& incident : changed) note(incident, now);
}

void Chronicle::note(const Incident& incident, WallTime now) {
  const auto before = incidents_.find(incident.id);
  Entry entry{.at = now,
              .what = Happening::incident_opened,
              .word = incident.cause,
              .entity = incident.entity,
              .incident = incident.id,
              .severity = incident.severity,
              .action = incident.action,
              .text = incident.message};
  if (before != incidents_.end()) {
    entry.text = change(before->second, incident);
    entry.what = is_over(incident) ? Happening::incident_ended : Happening::incident_changed;
  }
  Incident kept = incident;
  kept.evidence.clear();
  kept.findings.clear();
  kept.timeline.clear();
  incidents_.insert_or_assign(incident.id, std::move(kept));
  if (!entry.text.empty()) entries_.push_back(std::move(entry));
}

}  // namespace stoker::incident
