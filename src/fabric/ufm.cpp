#include "fabric/ufm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "fabric/guid_reader.h"
#include "model/wrap.h"

namespace stoker::fabric {
namespace {

using UfmJson = nlohmann::json;

constexpr unsigned highest_ufm_port = 254;

std::string ufm_text(const UfmJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>())
                                                     : std::string();
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "0002c903007b78b0_29"; the guide's links are named by the same.
std::optional<PortName> ufm_port_name(const std::string& text) {
  const auto gap = text.rfind('_');
  if (gap == std::string::npos) return std::nullopt;
  const auto guid = read_guid(std::string_view(text).substr(0, gap));
  const auto number = whole_number<unsigned>(std::string_view(text).substr(gap + 1));
  if (!guid || !number || *number > highest_ufm_port) return std::nullopt;
  return PortName{*guid, *number};
}

// "4x", and "IB_4x" of earlier releases.
Widths ufm_width(std::string word) {
  word = lower(std::move(word));
  if (word.starts_with("ib_")) word.erase(0, 3);
  constexpr std::array words = {"1x", "4x", "8x", "12x", "2x"};
  const auto* const found = std::ranges::find(words, word);
  return found == words.end() ? Widths{0} : static_cast<Widths>(1U << (found - words.begin()));
}

std::optional<Speed> ufm_speed(std::string word) {
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return speed_of(word);
}

// The members of a list of words, each made a set of bits by `bits`.
template <typename Set, typename Bits>
Set ufm_set(const UfmJson& object, const char* key, Bits bits) {
  Set all = 0;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return 0;
  for (const UfmJson& each : *found) {
    if (each.is_string()) all = static_cast<Set>(all | bits(each.get<std::string>()));
  }
  return all;
}

Speeds ufm_speed_bit(const std::string& word) {
  const auto speed = ufm_speed(word);
  return speed ? bit_of(*speed) : Speeds{0};
}

LinkState ufm_state(const std::string& word) {
  if (word == "initializing") return LinkState::initialize;
  return link_state_of(word);
}

// As ibstat's words: "Link Up", "Polling", "Disabled", "Link Error Recovery".
PhysicalState ufm_physical(std::string word) {
  std::ranges::replace(word, ' ', '_');
  if (word == "link_error_recovery") return PhysicalState::error_recovery;
  if (word == "port_configuration_training") return PhysicalState::training;
  return physical_state_of(word);
}

Port ufm_port(const UfmJson& object) {
  Port port;
  port.physical = ufm_physical(lower(ufm_text(object, "physical_state")));
  port.state = ufm_state(lower(ufm_text(object, "logical_state")));
  port.peer = ufm_port_name(ufm_text(object, "peer"));
  port.widths_enabled = ufm_set<Widths>(object, "enabled_width", ufm_width);
  port.widths_supported = ufm_set<Widths>(object, "supported_width", ufm_width);
  port.speeds_enabled = ufm_set<Speeds>(object, "enabled_speed", ufm_speed_bit);
  port.speeds_supported = ufm_set<Speeds>(object, "supported_speed", ufm_speed_bit);
  if (port.state != LinkState::down && port.peer) {
    port.rate.lanes = lanes_of(ufm_width(ufm_text(object, "active_width")));
    port.rate.speed = ufm_speed(ufm_text(object, "active_speed"));
  }
  return port;
}

// "sw1:29" and "gpu01 mlx5_0:1": the node, and the port behind a colon.
std::string ufm_node_name(const UfmJson& object) {
  std::string name = ufm_text(object, "node_description");
  if (name == "N/A") name.clear();
  const auto colon = name.rfind(':');
  if (colon != std::string::npos && colon > 0) name.erase(colon);
  return name.empty() ? ufm_text(object, "system_name") : name;
}

}  // namespace

Result<Sweep> read_ufm_ports(std::string_view text) {
  const UfmJson document = UfmJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_array()) return fail(ErrorCode::corrupt, "it is no list of UFM's ports");
  Sweep sweep;
  sweep.no_counters = "UFM's list of ports has none";
  for (const UfmJson& each : document) {
    const auto name = ufm_port_name(each.is_object() ? ufm_text(each, "name") : "");
    if (!name) {
      return fail(ErrorCode::corrupt, "a port has no \"name\" such as 0002c903007b78b0_29");
    }
    Node& node = sweep.nodes[name->node];
    node.name = ufm_node_name(each);
    const bool is_switch = lower(ufm_text(each, "description")).find("switch") != std::string::npos;
    node.kind = is_switch ? NodeKind::switch_ : NodeKind::adapter;
    if (!node.ports.emplace(name->port, ufm_port(each)).second) {
      return fail(ErrorCode::corrupt, fmt::format("port {} of {} stands there twice", name->port,
                                                  guid_text(name->node)));
    }
  }
  return sweep;
}

}  // namespace stoker::fabric
