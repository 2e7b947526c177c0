// Of node_ports.h: the ports and what was found, for programs.
#include "base/json_text.h"
#include "fabric/node_ports.h"
#include "fabric/roce_json.h"
#include "model/render.h"

namespace stoker::fabric {
namespace {

template <typename Value>
void write_known(JsonWriter& json, std::string_view name, const std::optional<Value>& value) {
  if (value) {
    json.member(name, *value);
  } else {
    json.inapplicable(name);
  }
}

void write_gids(JsonWriter& json, const RdmaPort& port) {
  json.key("gids").begin_array();
  for (const RdmaGid& gid : port.gids) {
    json.begin_object()
        .member("index", gid.index)
        .member("gid", gid.gid)
        .member_or_null("type", gid.type)
        .member_or_null("netdev", gid.netdev)
        .end_object();
  }
  json.end_array();
}

void write_counted(JsonWriter& json, const RdmaPort& port, const RdmaPorts* before) {
  json.key("counted").begin_array();
  const RdmaPort* then = same_port(before, port);
  for (const auto& [name, counted] :
       then == nullptr ? std::vector<PortCount>() : counted_on(*then, port)) {
    json.begin_object()
        .member("counter", name)
        .member("at_least", counted.least)
        .member("exact", counted.exact && !counted.fell)
        .member("fell", counted.fell)
        .member("full", counted.blind)
        .end_object();
  }
  json.end_array();
}

void write_port(JsonWriter& json, const RdmaPort& port, const RdmaPorts* before) {
  json.begin_object()
      .member("device", port.device)
      .member("port", port.port)
      .member_or_null("model", port.model)
      .member_or_null("link_layer", port.link_layer)
      .member_or_null("state", port.state)
      .member_or_null("physical_state", port.physical)
      .member_or_null("rate", port.rate);
  write_known(json, "lid", port.lid);
  write_known(json, "sm_lid", port.sm_lid);
  json.member_or_null("netdev", port.netdev);
  write_known(json, "mtu_bytes", port.mtu);
  write_gids(json, port);
  json.key("counters").begin_object();
  for (const auto& [name, value] : port.counters) json.member(name, value);
  json.end_object();
  write_counted(json, port, before);
  json.key("unread").begin_array();
  for (const auto& line : port.unread) json.value(line);
  json.end_array().end_object();
}

}  // namespace

std::string ports_json(const RdmaPorts& now, const RdmaPorts* before,
                       const std::vector<Finding>& findings, const RoceLooks* roce) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/port").key("ports").begin_array();
  for (const RdmaPort& port : now.ports) write_port(json, port, before);
  json.end_array().key("unread").begin_array();
  for (const auto& line : now.unread) json.value(line);
  json.end_array();
  if (roce != nullptr) write_roce(json, *roce);
  json.key("findings").begin_array();
  for (const Finding& finding : findings) write_finding(json, finding);
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::fabric
