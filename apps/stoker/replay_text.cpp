// Composition: what came of a recording, for people and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/duration.h"
#include "base/json_text.h"
#include "model/render.h"
#include "replay_run.h"

namespace stoker::app {
namespace {

using incident::Entry;
using incident::Happening;

bool is_since(const Entry& entry, const ReplayRun& run, Nanoseconds since) {
  return entry.at.since_epoch - run.begin.since_epoch >= since;
}

// Of a trace without a date: none.
void write_time(JsonWriter& json, std::string_view key, WallTime at, const ReplayRun& run) {
  if (run.dated) {
    json.member(key, format_utc(at));
  } else {
    json.inapplicable(key);
  }
}

std::string line_of(const Entry& entry, const ReplayRun& run) {
  const std::string what = entry.incident == 0
                               ? fmt::format("check {}", entry.word)
                               : fmt::format("incident {} {}", entry.incident, entry.word);
  const bool begins =
      entry.what == Happening::finding_began || entry.what == Happening::incident_opened;
  return fmt::format("{}+{:<10}  {:<8}  {}  {}{}\n  {}\n",
                     run.dated ? format_utc(entry.at) + "  " : std::string(),
                     format_duration(entry.at.since_epoch - run.begin.since_epoch),
                     to_string(entry.what), what, to_string(entry.severity),
                     begins ? fmt::format("  {}", to_string(entry.action)) : "", entry.text);
}

// How often each rule fired.
std::map<std::string, std::size_t> fired(const ReplayRun& run) {
  std::map<std::string, std::size_t> counts;
  for (const Entry& entry : run.entries) {
    if (entry.what == Happening::finding_began) ++counts[entry.word];
  }
  return counts;
}

void write_entry(JsonWriter& json, const Entry& entry, const ReplayRun& run) {
  json.begin_object();
  write_time(json, "time", entry.at, run);
  json.member("after_seconds", in_seconds(entry.at.since_epoch - run.begin.since_epoch))
      .member("what", to_string(entry.what));
  if (entry.incident == 0) {
    json.inapplicable("incident").member("rule", entry.word).inapplicable("cause");
  } else {
    json.member("incident", entry.incident).inapplicable("rule").member("cause", entry.word);
  }
  json.member("entity", entity_word(entry.entity))
      .member("severity", to_string(entry.severity))
      .member("action", to_string(entry.action))
      .member("message", entry.text)
      .end_object();
}

void write_incident(JsonWriter& json, const Incident& one, const ReplayRun& run) {
  json.begin_object()
      .member("id", one.id)
      .member("entity", entity_word(one.entity))
      .member("about", one.about)
      .member("cause", one.cause)
      .member_or_null("subject", one.subject)
      .member("severity", to_string(one.severity))
      .member("action", to_string(one.action))
      .member("action_of_driver", one.action_of_driver)
      .member("state", to_string(one.state));
  write_time(json, "opened_at", one.opened_at, run);
  write_time(json, "last_seen", one.last_seen, run);
  json.member("occurrences", one.occurrences).member("message", one.message).end_object();
}

}  // namespace

std::string replay_table(const ReplayRun& run, Nanoseconds since) {
  std::string text;
  for (const Entry& entry : run.entries) {
    if (is_since(entry, run, since)) text += line_of(entry, run);
  }
  const auto counts = fired(run);
  text += fmt::format("{}{} of {}, {} GPU{}, {} looks: {} checks fired, {} incidents\n",
                      text.empty() ? "" : "\n", format_duration(run.length), run.hostname, run.gpus,
                      run.gpus == 1 ? "" : "s", run.looks, counts.size(), run.incidents.size());
  for (const auto& [rule, count] : counts) text += fmt::format("  check {} x{}\n", rule, count);
  for (const auto& one : run.incidents) {
    text += fmt::format("  incident {}  {}  {}  {}{}  {}  {}, lines and findings: {}\n", one.id,
                        one.cause, to_string(one.severity), to_string(one.action),
                        one.action_of_driver ? " (the driver asks)" : "", one.about,
                        to_string(one.state), one.occurrences);
  }
  return text;
}

std::string replay_json(const ReplayRun& run, Nanoseconds since) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/timeline");
  write_time(json, "recorded_at", run.begin, run);
  json.member("length_seconds", in_seconds(run.length))
      .member("hostname", run.hostname)
      .member("gpus", run.gpus)
      .member("looks", run.looks);
  json.key("timeline").begin_array();
  for (const Entry& entry : run.entries) {
    if (is_since(entry, run, since)) write_entry(json, entry, run);
  }
  json.end_array().key("checks").begin_array();
  for (const auto& [rule, count] : fired(run)) {
    json.begin_object().member("rule", rule).member("fired", count).end_object();
  }
  json.end_array().key("incidents").begin_array();
  for (const auto& one : run.incidents) write_incident(json, one, run);
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::app
