#include "api/incidents_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "api/documents.h"
#include "model/render.h"

namespace stoker::api {
namespace {

constexpr std::size_t in_a_list = 4;

void write_evidence(JsonWriter& json, const Incident& incident, std::size_t at_each_end) {
  const auto& lines = incident.evidence;
  json.key("evidence").begin_array();
  std::uint64_t left_out = incident.evidence_left_out;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (n >= at_each_end && lines.size() - n > at_each_end) {
      ++left_out;
      continue;
    }
    json.begin_object().member("time", format_utc(lines[n].at));
    json.member("text", lines[n].text).end_object();
  }
  json.end_array().member("evidence_left_out", left_out);
}

void write_looks(JsonWriter& json, const std::vector<Look>& looks) {
  json.key("looks").begin_array();
  for (const Look& look : looks) {
    json.begin_object().member("time", format_utc(look.at)).member("kind", to_string(look.kind));
    json.member("made", look.made).member("late", look.late).key("lines").begin_array();
    for (const auto& line : look.lines) json.value(line);
    json.end_array().end_object();
  }
  json.end_array();
}

// `whole`: with what only one incident's own document has.
void write_incident(JsonWriter& json, const Incident& incident, bool whole) {
  json.begin_object().member("id", incident.id).member("revision", incident.revision);
  json.member("state", to_string(incident.state));
  json.member("entity", entity_word(incident.entity)).member("about", incident.about);
  json.member_or_null("pci", incident.pci).member_or_null("serial", incident.serial);
  json.member("cause", incident.cause).member_or_null("subject", incident.subject);
  json.member("severity", to_string(incident.severity));
  json.member("action", to_string(incident.action));
  json.member("action_of_driver", incident.action_of_driver);
  json.member("message", incident.message).member_or_null("explanation", incident.explanation);
  json.member_or_null("fix", incident.fix).member_or_null("source", incident.source);
  json.member("opened_at", format_utc(incident.opened_at));
  json.member("updated_at", format_utc(incident.updated_at));
  json.member("last_seen", format_utc(incident.last_seen));
  write_time(json, "proving_since", incident.proving_since);
  write_time(json, "resolved_at", incident.resolved_at);
  write_time(json, "suppressed_until", incident.suppressed_until);
  json.member("occurrences", incident.occurrences).member("recurrence", incident.recurrence);
  json.key("programs").begin_array();
  for (const auto& program : incident.programs) json.value(program);
  json.end_array();
  write_evidence(json, incident, whole ? incident.evidence.size() : in_a_list);
  if (whole) write_looks(json, incident.looks);
  json.key("findings").begin_array();
  for (const auto& finding : incident.findings) write_finding(json, finding);
  json.end_array().key("timeline").begin_array();
  for (const auto& entry : incident.timeline) {
    json.begin_object().member("time", format_utc(entry.at));
    json.member("who", entry.who).member("what", entry.what).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

Result<std::vector<IncidentState>> parse_incidents_question(std::string_view query) {
  std::vector<IncidentState> states;
  if (query.empty()) return states;
  constexpr std::string_view name = "state=";
  std::string_view rest = query.starts_with(name) ? query.substr(name.size()) : std::string_view();
  while (true) {
    const auto word = rest.substr(0, rest.find(','));
    const auto state = incident_state_of(word);
    if (!state) {
      return fail(
          ErrorCode::invalid_input,
          fmt::format("\"{}\": state=WORD[,WORD] is what can be asked, of open, acknowledged, "
                      "mitigating, proving, resolved and suppressed",
                      query));
    }
    states.push_back(*state);
    if (word.size() == rest.size()) return states;
    rest.remove_prefix(word.size() + 1);
  }
}

std::string incidents_document(const std::vector<Incident>& incidents,
                               const std::vector<IncidentState>& states) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/incident").key("incidents").begin_array();
  for (const Incident& one : std::views::reverse(incidents)) {
    if (states.empty() || std::ranges::find(states, one.state) != states.end()) {
      write_incident(json, one, false);
    }
  }
  json.end_array().end_object();
  return json.text();
}

std::string incident_document(const Incident& incident) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/incident").key("incidents").begin_array();
  write_incident(json, incident, true);
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::api
