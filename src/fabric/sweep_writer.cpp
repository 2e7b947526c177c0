#include "base/json_text.h"
#include "fabric/sweep_file.h"

namespace stoker::fabric {
namespace {

void write_speeds(JsonWriter& json, std::string_view key, Speeds speeds) {
  json.key(key).begin_array();
  for (unsigned i = 0; i < speed_count; ++i) {
    if ((speeds & bit_of(static_cast<Speed>(i))) != 0) json.value(to_string(static_cast<Speed>(i)));
  }
  json.end_array();
}

void write_widths(JsonWriter& json, std::string_view key, Widths widths) {
  json.key(key).begin_array();
  for (unsigned code = 1; code <= widths; code <<= 1U) {
    const auto lanes = (widths & code) != 0 ? lanes_of(code) : std::nullopt;
    if (lanes) json.value(*lanes);
  }
  json.end_array();
}

// `wide`: the groups of counters that have 64 bits and so do not stop at less.
void write_counters(JsonWriter& json, const Port& port) {
  bool wide_errors = false;
  bool wide_traffic = false;
  json.key("counters").begin_object();
  for (const CounterRow& row : counter_rows()) {
    const auto& reading = port.counters.at(static_cast<std::size_t>(row.id));
    if (!reading) continue;
    json.member(row.name, reading->value);
    if (reading->bits < wide_bits) continue;
    (row.group == CounterGroup::errors ? wide_errors : wide_traffic) = true;
  }
  json.end_object().key("wide").begin_array();
  if (wide_errors) json.value("errors");
  if (wide_traffic) json.value("traffic");
  json.end_array();
}

void write_port(JsonWriter& json, unsigned number, const Port& port) {
  json.begin_object().member("port", number);
  if (!port.unread.empty()) {
    json.member("unread", port.unread).end_object();
    return;
  }
  json.member("state", to_string(port.state)).member("physical", to_string(port.physical));
  if (port.rate.lanes) json.member("lanes", *port.rate.lanes);
  if (port.rate.speed) json.member("speed", to_string(*port.rate.speed));
  write_widths(json, "lanes_enabled", port.widths_enabled);
  write_widths(json, "lanes_supported", port.widths_supported);
  write_speeds(json, "speeds_enabled", port.speeds_enabled);
  write_speeds(json, "speeds_supported", port.speeds_supported);
  if (port.peer) {
    json.key("peer").begin_object().member("guid", guid_text(port.peer->node));
    json.member("port", port.peer->port).end_object();
  }
  write_counters(json, port);
  if (!port.counters_unread.empty()) json.member("counters_unread", port.counters_unread);
  json.end_object();
}

}  // namespace

std::string write_sweep(const Sweep& sweep) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/fabric-sweep");
  json.member("taken_at", format_utc(sweep.taken));
  json.member("taken_ns", sweep.taken.since_epoch.count()).member("took_ns", sweep.took.count());
  json.member("source", sweep.source);
  if (!sweep.no_counters.empty()) json.member("no_counters", sweep.no_counters);
  json.key("nodes").begin_array();
  for (const auto& [guid, node] : sweep.nodes) {
    json.begin_object().member("guid", guid_text(guid)).member("kind", to_string(node.kind));
    json.member("name", node.name).key("ports").begin_array();
    for (const auto& [number, port] : node.ports) write_port(json, number, port);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::fabric
