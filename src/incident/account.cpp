#include "incident/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "event/event_parser.h"
#include "incident/signal.h"

namespace stoker::incident {
namespace {

template <typename T>
void add_once(std::vector<T>& all, const T& one, bool at_front) {
  if (std::ranges::find(all, one) != all.end()) return;
  all.insert(at_front ? all.begin() : all.end(), one);
}

std::string number_of(const Event& event) {
  if (event.kind == EventKind::xid && event.code) return fmt::format("Xid {}", *event.code);
  if (event.kind == EventKind::sxid && event.code) return fmt::format("SXid {}", *event.code);
  return "It";
}

// The events of an evidence line, read as its source was read.
std::vector<Event> events_of(const std::string& text) {
  event::EventParser parser;
  std::vector<Event> events;
  parser.read({.text = text, .program = "kernel", .kernel = true}, events);
  return events;
}

AccountLine line_of(const Evidence& evidence, const Event& event, const Cause& head,
                    const std::optional<DriverVersion>& driver) {
  AccountLine line{.at = evidence.at, .part = Part::beside, .text = evidence.text};
  const auto* cause = incident::cause_of(event, driver);
  if (cause == nullptr || cause->word == head.word) {
    line.part = cause == nullptr ? Part::beside : Part::cause;
    return line;
  }
  const auto name = number_of(event);
  if (follows(cause->family, head.family)) {
    line.part = Part::follows;
    line.why = fmt::format("{} means {}, which follows from {}", name, cause->word, head.word);
  } else if (cause->rank < head.rank) {
    line.part = Part::earlier;
    line.why = fmt::format("{} means {}; {} stands higher", name, cause->word, head.word);
  } else {
    line.why = fmt::format("{} means {}", name, cause->word);
  }
  return line;
}

}  // namespace

const char* to_string(Part part) {
  static constexpr std::array<const char*, 6> words = {"cause",  "earlier", "follows",
                                                       "beside", "check",   "story"};
  return words.at(static_cast<std::size_t>(part));
}

Account account_of(const Incident& incident, const std::optional<DriverVersion>& driver) {
  Account account{.cause = cause_named(incident.cause, incident.severity)};
  for (const Evidence& one : incident.evidence) {
    const auto events = events_of(one.text);
    if (events.empty()) {
      account.lines.push_back({.at = one.at, .part = Part::check, .text = one.text});
      continue;
    }
    account.lines.push_back(line_of(one, events.front(), account.cause, driver));
    const bool of_cause = account.lines.back().part == Part::cause;
    for (const Event& event : events) {
      if (event.code && event.kind == EventKind::xid) add_once(account.xids, *event.code, of_cause);
      if (event.code && event.kind == EventKind::sxid)
        add_once(account.sxids, *event.code, of_cause);
    }
  }
  for (const TimelineEntry& one : incident.timeline) {
    account.lines.push_back({.at = one.at, .part = Part::story, .who = one.who, .text = one.what});
  }
  // Of one time those that came to be known first come first.
  std::multimap<Nanoseconds, AccountLine> ordered;
  for (AccountLine& line : account.lines) ordered.emplace(line.at.since_epoch, std::move(line));
  account.lines.clear();
  for (auto& [at, line] : ordered) account.lines.push_back(std::move(line));
  return account;
}

}  // namespace stoker::incident
