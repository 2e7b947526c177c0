#include "fabric/report.h"

#include <fmt/format.h>

#include "model/render.h"

namespace stoker::fabric {
namespace {

void write_end(JsonWriter& json, const Sweep& now, const Judged& judged, const PortName& end) {
  json.begin_object();
  if (end.node == 0) {
    json.inapplicable("guid").inapplicable("node").inapplicable("port").end_object();
    return;
  }
  json.member("guid", guid_text(end.node));
  json.member("node", judged.names.at(end.node));
  json.member("port", end.port);
  const Port* port = now.port(end);
  if (port == nullptr || !port->unread.empty()) {
    json.key("state").null().member("state_reason", port == nullptr ? "not_seen" : port->unread);
    json.end_object();
    return;
  }
  json.member("state", to_string(port->state)).member("physical", to_string(port->physical));
  json.member("rate", to_string(port->rate)).key("counters").begin_object();
  for (const CounterRow& row : counter_rows()) {
    const auto& reading = port->counters.at(static_cast<std::size_t>(row.id));
    if (reading) json.member(row.name, reading->value);
  }
  json.end_object();
  if (!port->counters_unread.empty()) json.member("counters_reason", port->counters_unread);
  json.end_object();
}

void write_link(JsonWriter& json, const Sweep& now, const Judged& judged, std::size_t finding,
                const Cable& cable) {
  const Told& told = judged.told[finding];
  json.begin_object().member("verdict", row_of(told.verdict).word).member("finding", finding);
  json.key("ends").begin_array();
  write_end(json, now, judged, cable.one);
  write_end(json, now, judged, cable.other);
  json.end_array().end_object();
}

}  // namespace

std::string write_report(const Sweep& now, const Judged& judged) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/fabric-report");
  json.member("taken_at", format_utc(now.taken)).member("source", now.source);
  json.member("took_seconds", std::chrono::duration<double>(now.took).count());
  json.member("nodes", now.nodes.size()).member("cables", judged.cables);
  json.member("ports", judged.ports).member("ports_without_cable", judged.unlinked);
  json.member("ports_not_read", judged.unread);
  if (!now.no_counters.empty()) json.member("counters_reason", now.no_counters);
  json.key("findings").begin_array();
  for (const Told& told : judged.told) write_finding(json, told.finding);
  json.end_array().key("links").begin_array();
  for (std::size_t i = 0; i < judged.told.size(); ++i) {
    for (const Cable& cable : judged.told[i].cables) write_link(json, now, judged, i, cable);
  }
  json.end_array().end_object();
  return json.text();
}

std::string summary(const Sweep& now, const Judged& judged) {
  std::string text =
      fmt::format("{} cables and {} ports ({} without a cable) in {} by {}", judged.cables,
                  judged.ports, judged.unlinked, format_duration(now.took), now.source);
  if (judged.unread > 0) text += fmt::format(", {} ports NOT READ", judged.unread);
  if (!now.no_counters.empty()) {
    text += fmt::format("; errors NOT JUDGED: no counters ({})", now.no_counters);
  }
  return text;
}

}  // namespace stoker::fabric
