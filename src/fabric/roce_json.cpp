#include "fabric/roce_json.h"

#include <fmt/format.h>

#include <string>

#include "fabric/roce_settings.h"

namespace stoker::fabric {
namespace {

void write_mask(JsonWriter& json, std::string_view name, const std::optional<PriorityMask>& mask) {
  if (!mask) {
    json.inapplicable(name);
    return;
  }
  json.key(name).begin_array();
  for (unsigned priority = 0; priority < mask->size(); ++priority) {
    if (mask->test(priority)) json.value(priority);
  }
  json.end_array();
}

void write_reason(JsonWriter& json, std::string_view name, std::string_view reason) {
  json.key(name).null().member(fmt::format("{}_reason", name), reason);
}

const char* word_of(TrafficSelection selection) {
  switch (selection) {
    case TrafficSelection::strict: return "strict";
    case TrafficSelection::credit_based: return "credit_based";
    case TrafficSelection::ets: return "ets";
    case TrafficSelection::vendor: return "vendor";
    case TrafficSelection::unknown: break;
  }
  return "unknown";
}

void write_ets(JsonWriter& json, const std::optional<EtsSettings>& ets) {
  if (!ets) {
    json.inapplicable("ets");
    return;
  }
  json.key("ets").begin_object().key("class_of_priority").begin_array();
  for (const unsigned number : ets->class_of) json.value(number);
  json.end_array().key("classes").begin_array();
  for (std::size_t i = 0; i < ets->percent.size(); ++i) {
    json.begin_object()
        .member("class", i)
        .member("selection", word_of(ets->selection.at(i)))
        .member("bandwidth_percent", static_cast<unsigned>(ets->percent.at(i)))
        .end_object();
  }
  json.end_array().end_object();
}

void write_dcb(JsonWriter& json, const RoceNetdev& netdev) {
  if (!netdev.dcb) {
    write_reason(json, "dcb", netdev.dcb_reason);
    return;
  }
  json.key("dcb").begin_object();
  write_mask(json, "pfc_priorities", netdev.dcb->pfc);
  write_ets(json, netdev.dcb->ets);
  json.key("priority_of_dscp").begin_object();
  for (const auto& [dscp, priority] : netdev.dcb->priority_of_dscp)
    json.member(std::to_string(dscp), priority);
  json.end_object();
  if (const auto trusted = trusts_dscp(netdev)) {
    json.member("trusts_dscp", *trusted);
  } else {
    write_reason(json, "trusts_dscp", "the driver does not say");
  }
  json.end_object();
}

void write_pause(JsonWriter& json, const RoceNetdev& netdev) {
  if (!netdev.pause) {
    write_reason(json, "pause", netdev.pause_reason);
    return;
  }
  json.key("pause")
      .begin_object()
      .member("receives", netdev.pause->receives)
      .member("sends", netdev.pause->sends)
      .end_object();
}

void write_known_number(JsonWriter& json, std::string_view name,
                        const std::optional<unsigned>& value) {
  if (value) {
    json.member(name, *value);
  } else {
    json.inapplicable(name);
  }
}

void write_roce_counters(JsonWriter& json, const RoceNetdev& netdev, const RoceNetdev* before) {
  if (!netdev.counters_reason.empty()) {
    write_reason(json, "counters", netdev.counters_reason);
  } else {
    json.key("counters").begin_object();
    for (const auto& [name, value] : netdev.counters) json.member(name, value);
    json.end_object();
  }
  json.key("counted").begin_array();
  for (const auto& [name, counted] :
       before == nullptr ? std::vector<RoceCount>() : roce_counts(*before, netdev)) {
    json.begin_object()
        .member("counter", name)
        .member("at_least", counted.least)
        .member("exact", counted.exact && !counted.fell)
        .member("fell", counted.fell)
        .end_object();
  }
  json.end_array();
}

void write_netdev(JsonWriter& json, const RoceNetdev& netdev, const RoceLooks& looks) {
  json.begin_object().member("netdev", netdev.netdev).key("devices").begin_array();
  for (const auto& device : netdev.devices) json.value(device);
  json.end_array().member_or_null("driver", netdev.driver).member("software", netdev.software);
  write_dcb(json, netdev);
  write_pause(json, netdev);
  write_mask(json, "ecn_priorities", ecn_priorities(ports_on(netdev, looks.ports)));
  write_known_number(json, "cnp_dscp", netdev.cnp_dscp);
  write_known_number(json, "cnp_priority", netdev.cnp_priority);
  write_known_number(json, "traffic_class", netdev.traffic_class);
  write_known_number(json, "default_tos", netdev.default_tos);
  write_roce_counters(json, netdev, same_netdev(looks.roce_before, netdev));
  json.end_object();
}

void write_drops(JsonWriter& json, std::string_view name, const std::vector<FilterDrop>& drops) {
  json.key(name).begin_array();
  for (const FilterDrop& drop : drops) {
    json.begin_object()
        .member("chain", drop.chain)
        .member_or_null("rule", drop.rule)
        .member("way", drop.way == FilterWay::in ? "in" : "out")
        .end_object();
  }
  json.end_array();
}

}  // namespace

void write_roce(JsonWriter& json, const RoceLooks& looks) {
  json.key("netdevs").begin_array();
  for (const RoceNetdev& netdev : looks.roce.netdevs) write_netdev(json, netdev, looks);
  json.end_array().key("netdevs_unread").begin_array();
  for (const auto& line : looks.roce.unread) json.value(line);
  json.end_array();
  if (looks.filter == nullptr) {
    write_reason(json, "packet_filter", "not looked at");
    return;
  }
  json.key("packet_filter").begin_object();
  write_drops(json, "drops_roce", looks.filter->drops);
  write_drops(json, "names_roce", looks.filter->named);
  json.key("unread").begin_array();
  for (const auto& line : looks.filter->unread) json.value(line);
  json.end_array().end_object();
}

}  // namespace stoker::fabric
