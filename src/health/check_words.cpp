#include "health/check_words.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/duration.h"

namespace stoker::health {
namespace {

using yaml::Node;

constexpr Nanoseconds longest = std::chrono::hours(24 * 30);

bool is_plain(const Node& node) { return node.kind == Node::Kind::scalar && !node.quoted; }

std::string shown(const Node& node) {
  return node.kind == Node::Kind::scalar ? "'" + node.text + "'" : "a list or map";
}

}  // namespace

const char* to_string(CheckKind kind) {
  switch (kind) {
    case CheckKind::threshold: return "threshold";
    case CheckKind::rate: return "rate";
    case CheckKind::delta: return "delta";
    case CheckKind::state: return "state";
    case CheckKind::absence: return "absence";
    case CheckKind::peers: return "peers";
    case CheckKind::frequency: return "frequency";
    case CheckKind::port: return "port";
  }
  return "threshold";
}

const char* to_string(Relation relation) {
  switch (relation) {
    case Relation::above: return "above";
    case Relation::at_least: return "at_least";
    case Relation::below: return "below";
    case Relation::at_most: return "at_most";
    case Relation::one_of: return "one_of";
    case Relation::none_of: return "none_of";
    case Relation::any_bit: return "any_bit";
    case Relation::no_bit: return "no_bit";
  }
  return "above";
}

void read_number(yaml::MapReader& map, std::string_view key, double& out, yaml::Need need) {
  const Node* node = need == yaml::Need::required ? map.need(key) : map.find(key);
  if (node == nullptr || (node->empty() && need == yaml::Need::required)) return;
  double number = 0;
  const char* last = node->text.data() + node->text.size();
  const auto [end, code] =
      std::from_chars(node->text.data(), last, number, std::chars_format::fixed);
  if (!is_plain(*node) || code != std::errc{} || end != last || !std::isfinite(number)) {
    map.problem(node->place, map.name(key) + " has to be a number, not " + shown(*node));
    return;
  }
  out = number;
}

void read_duration(yaml::MapReader& map, std::string_view key, Nanoseconds& out) {
  const Node* node = map.find(key);
  if (node == nullptr) return;
  const auto duration = parse_duration(is_plain(*node) ? node->text : "");
  if (!duration || *duration > longest) {
    map.problem(node->place,
                fmt::format("{} has to be a duration from 0s to 30d, e.g. 30s, 5m, not {}",
                            map.name(key), shown(*node)));
    return;
  }
  out = *duration;
}

}  // namespace stoker::health
