// Any bytes as an expression, alone and in an alert.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lint/prometheus/promql.h"
#include "lint/prometheus/rule_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace lint = stoker::lint;
  namespace yaml = stoker::yaml;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto tree = lint::parse_promql(text);
  if (tree && tree->at > size) std::abort();

  const auto word = [](const std::string& content) {
    yaml::Node node;
    node.text = content;
    return node;
  };
  const auto map = [&](const std::string& key, yaml::Node value) {
    yaml::Node node;
    node.kind = yaml::Node::Kind::map;
    node.entries.push_back({word(key), std::move(value)});
    return node;
  };
  const auto list = [](yaml::Node item) {
    yaml::Node node;
    node.kind = yaml::Node::Kind::list;
    node.items.push_back(std::move(item));
    return node;
  };
  yaml::Node rule = map("expr", word(text));
  rule.entries.push_back({word("alert"), word("A")});
  rule.entries.push_back({word("annotations"), map("summary", word(text))});
  const auto root = map("groups", list(map("rules", list(std::move(rule)))));
  for (const auto& finding : lint::lint_prometheus_rules(root, "f")) {
    if (!finding.location) std::abort();
  }
  return 0;
}
