#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "fabric/guid_reader.h"
#include "fabric/sweep_file.h"
#include "model/wrap.h"

namespace stoker::fabric {
namespace {

using Json = nlohmann::json;

constexpr unsigned highest_port =
    254;  // volume 1, 14.2.5.3: NumPorts has 8 bits, of which 255 names all
constexpr std::array<unsigned, 5> lane_codes = {1, 4, 8, 12, 2};

const Json* member_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json& object, const char* key) {
  const Json* value = member_of(object, key);
  return value != nullptr && value->is_string() ? printable(value->get<std::string>())
                                                : std::string();
}

std::optional<std::uint64_t> number_of(const Json& object, const char* key) {
  const Json* value = member_of(object, key);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<std::uint64_t>();
}

Result<unsigned> port_number_of(const Json& object) {
  const auto number = number_of(object, "port");
  if (number && *number <= highest_port) return static_cast<unsigned>(*number);
  return fail(ErrorCode::corrupt, "\"port\" has to be a number from 0 to 254");
}

Widths widths_of(const Json& object, const char* key) {
  Widths widths = 0;
  const Json* list = member_of(object, key);
  if (list == nullptr || !list->is_array()) return 0;
  for (const Json& each : *list) {
    for (std::size_t bit = 0; bit < lane_codes.size(); ++bit) {
      if (each.is_number_unsigned() && each.get<std::uint64_t>() == lane_codes.at(bit)) {
        widths = static_cast<Widths>(widths | 1U << bit);
      }
    }
  }
  return widths;
}

Speeds speeds_of(const Json& object, const char* key) {
  Speeds speeds = 0;
  const Json* list = member_of(object, key);
  if (list == nullptr || !list->is_array()) return 0;
  for (const Json& each : *list) {
    const auto speed = each.is_string() ? speed_of(each.get<std::string>()) : std::nullopt;
    if (speed) speeds = static_cast<Speeds>(speeds | bit_of(*speed));
  }
  return speeds;
}

bool is_wide(const Json& object, CounterGroup group) {
  const Json* wide = member_of(object, "wide");
  if (wide == nullptr || !wide->is_array()) return false;
  const char* word = group == CounterGroup::errors ? "errors" : "traffic";
  return std::ranges::any_of(*wide, [&](const Json& each) { return each == word; });
}

Result<void> read_counters(const Json& object, Port& port) {
  const Json* counters = member_of(object, "counters");
  if (counters == nullptr || !counters->is_object()) return {};
  for (const CounterRow& row : counter_rows()) {
    const std::string name(row.name);
    const auto value = number_of(*counters, name.c_str());
    if (!value) continue;
    CounterReading reading{.value = *value};
    if (!is_wide(object, row.group)) reading.bits = row.width;
    if (reading.bits < wide_bits && *value >> reading.bits != 0) {
      return fail(ErrorCode::corrupt,
                  fmt::format("\"{}\" does not fit {} bits", name, reading.bits));
    }
    port.counters.at(static_cast<std::size_t>(row.id)) = reading;
  }
  return {};
}

Result<void> read_peer(const Json& object, Port& port) {
  const Json* peer = member_of(object, "peer");
  if (peer == nullptr) return {};
  const auto guid = read_guid(peer->is_object() ? text_of(*peer, "guid") : "");
  if (!guid) return fail(ErrorCode::corrupt, "\"peer\" has no \"guid\" such as 0x0002c90300f0a1b0");
  const auto number = port_number_of(*peer);
  if (!number) return fail(number.error());
  port.peer = PortName{*guid, *number};
  return {};
}

Result<Port> read_port(const Json& object) {
  Port port;
  port.unread = text_of(object, "unread");
  port.state = link_state_of(text_of(object, "state"));
  if (port.state == LinkState::unknown && port.unread.empty()) {
    port.unread = "the file does not tell its state";
  }
  port.physical = physical_state_of(text_of(object, "physical"));
  port.rate.speed = speed_of(text_of(object, "speed"));
  if (const auto lanes = number_of(object, "lanes")) {
    const auto* const known = std::ranges::find(lane_codes, *lanes);
    if (known != lane_codes.end()) port.rate.lanes = *known;
  }
  port.widths_enabled = widths_of(object, "lanes_enabled");
  port.widths_supported = widths_of(object, "lanes_supported");
  port.speeds_enabled = speeds_of(object, "speeds_enabled");
  port.speeds_supported = speeds_of(object, "speeds_supported");
  port.counters_unread = text_of(object, "counters_unread");
  if (auto read = read_peer(object, port); !read) return fail(read.error());
  if (auto read = read_counters(object, port); !read) return fail(read.error());
  return port;
}

Result<Node> read_node(const Json& object) {
  Node node;
  node.kind = node_kind_of(text_of(object, "kind"));
  node.name = text_of(object, "name");
  const Json* ports = member_of(object, "ports");
  if (ports == nullptr || !ports->is_array())
    return fail(ErrorCode::corrupt, "it has no \"ports\"");
  for (const Json& each : *ports) {
    if (!each.is_object()) return fail(ErrorCode::corrupt, "a port is no object");
    const auto number = port_number_of(each);
    if (!number) return fail(number.error());
    auto port = read_port(each);
    if (!port)
      return fail(ErrorCode::corrupt, fmt::format("port {}: {}", *number, port.error().message()));
    if (!node.ports.emplace(*number, std::move(*port)).second) {
      return fail(ErrorCode::corrupt, fmt::format("port {} stands there twice", *number));
    }
  }
  return node;
}

}  // namespace

Result<Sweep> read_sweep(std::string_view text) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || text_of(document, "schema") != "stoker.dev/v1/fabric-sweep") {
    return fail(ErrorCode::corrupt,
                "it is no sweep of a fabric as `stoker fabric sweep --save` writes it");
  }
  Sweep sweep;
  const Json* taken = member_of(document, "taken_ns");
  if (taken == nullptr || !taken->is_number_integer()) {
    return fail(ErrorCode::corrupt, "it has no \"taken_ns\"");
  }
  sweep.taken.since_epoch = Nanoseconds(taken->get<std::int64_t>());
  sweep.source = text_of(document, "source");
  sweep.no_counters = text_of(document, "no_counters");
  const Json* nodes = member_of(document, "nodes");
  if (nodes == nullptr || !nodes->is_array())
    return fail(ErrorCode::corrupt, "it has no \"nodes\"");
  if (nodes->empty())
    return fail(ErrorCode::corrupt, "it has no node, so nobody looked at anything");
  for (const Json& each : *nodes) {
    const auto guid = read_guid(each.is_object() ? text_of(each, "guid") : "");
    if (!guid) return fail(ErrorCode::corrupt, "a node has no \"guid\" such as 0x0002c90300f0a1b0");
    auto node = read_node(each);
    if (!node) {
      return fail(ErrorCode::corrupt,
                  fmt::format("node {}: {}", guid_text(*guid), node.error().message()));
    }
    if (!sweep.nodes.emplace(*guid, std::move(*node)).second) {
      return fail(ErrorCode::corrupt, fmt::format("node {} stands there twice", guid_text(*guid)));
    }
  }
  return sweep;
}

}  // namespace stoker::fabric
