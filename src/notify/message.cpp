#include "notify/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/json_text.h"
#include "model/render.h"

namespace stoker::notify {
namespace {

constexpr std::uint64_t evidence_told = 4;

template <typename T>
std::span<const T> first(const std::vector<T>& all, std::uint64_t count) {
  return std::span(all).first(std::min<std::size_t>(all.size(), count));
}

}  // namespace

std::string key_of(const Incident& incident, const std::string& node) {
  return fmt::format("{}/{}/{}", node, incident.id, incident.revision);
}

std::string webhook_body(const Incident& incident, const std::string& node) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/notification");
  json.member("key", key_of(incident, node)).member("node", node);
  json.member("id", incident.id).member("revision", incident.revision);
  json.member("state", to_string(incident.state));
  json.member("entity", entity_word(incident.entity)).member("about", incident.about);
  json.member_or_null("pci", incident.pci).member_or_null("serial", incident.serial);
  json.member("cause", incident.cause).member("severity", to_string(incident.severity));
  json.member("action", to_string(incident.action));
  const Told& told = incident.told;
  json.member("action_of_driver", incident.action_of_driver).member("message", told.message);
  json.member_or_null("fix", told.fix).member_or_null("source", told.source);
  json.member("opened_at", format_utc(incident.opened_at));
  json.member("updated_at", format_utc(incident.updated_at));
  json.member_or_null("resolved_at",
                      incident.resolved_at ? format_utc(*incident.resolved_at) : std::string());
  json.member("occurrences", told.occurrences).member("recurrence", incident.recurrence);
  json.key("programs").begin_array();
  for (const auto& program : first(incident.programs, told.programs)) json.value(program);
  json.end_array().key("evidence").begin_array();
  for (const auto& line : first(incident.evidence, std::min(told.evidence, evidence_told))) {
    json.value(line.text);
  }
  json.end_array().end_object();
  return json.text();
}

std::string alert_body(const Incident& incident, const std::string& node, WallTime ends_at) {
  JsonWriter json;
  json.begin_array().begin_object().key("labels").begin_object();
  json.member("alertname", "StokerIncident").member("node", node);
  json.member("incident", std::to_string(incident.id)).member("cause", incident.cause);
  json.member("severity", to_string(incident.severity));
  json.member("entity", entity_word(incident.entity));
  if (!incident.pci.empty()) json.member("pci", incident.pci);
  json.end_object().key("annotations").begin_object();
  json.member("summary", incident.told.message).member("action", to_string(incident.action));
  if (!incident.told.fix.empty()) json.member("fix", incident.told.fix);
  if (!incident.told.source.empty()) json.member("source", incident.told.source);
  json.member("state", to_string(incident.state)).member("key", key_of(incident, node));
  json.end_object().member("startsAt", format_utc(incident.opened_at));
  json.member("endsAt", format_utc(ends_at)).end_object().end_array();
  return json.text();
}

}  // namespace stoker::notify
