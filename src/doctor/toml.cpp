#include "doctor/toml.h"

#include <fmt/format.h>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace stoker::doctor {
namespace {

yaml::Place place_of(const toml::node& node) {
  return {static_cast<int>(node.source().begin.line), static_cast<int>(node.source().begin.column)};
}

std::string text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  return "";  // a date: nothing that is read here is one
}

// The parser itself refuses what is nested more than 256 deep (TOML_MAX_NESTED_VALUES).
yaml::Node node_of(const toml::node& from) {  // NOLINT(misc-no-recursion)
  yaml::Node node;
  node.place = place_of(from);
  if (const auto* table = from.as_table()) {
    node.kind = yaml::Node::Kind::map;
    for (const auto& [name, value] : *table) {
      yaml::Node key;
      key.text = std::string(name.str());
      key.place = {static_cast<int>(name.source().begin.line),
                   static_cast<int>(name.source().begin.column)};
      node.entries.push_back({std::move(key), node_of(value)});
    }
  } else if (const auto* list = from.as_array()) {
    node.kind = yaml::Node::Kind::list;
    for (const auto& item : *list) node.items.push_back(node_of(item));
  } else {
    node.text = text_of(from);
    node.quoted = from.is_string();
  }
  return node;
}

}  // namespace

Result<yaml::Node> parse_toml(std::string_view text, const std::string& file) {
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    const auto& at = parsed.error().source().begin;
    return fail(ErrorCode::invalid_input, fmt::format("{}:{}:{}: {}", file, at.line, at.column,
                                                      parsed.error().description()));
  }
  return node_of(parsed.table());
}

const yaml::Node* node_at(const yaml::Node& root, std::initializer_list<std::string_view> path) {
  const yaml::Node* node = &root;
  for (const auto name : path) {
    node = yaml::child_of(*node, name);
    if (node == nullptr) return nullptr;
  }
  return node;
}

std::string text_at(const yaml::Node& root, std::initializer_list<std::string_view> path) {
  const yaml::Node* node = node_at(root, path);
  return node == nullptr ? "" : node->text;
}

}  // namespace stoker::doctor
