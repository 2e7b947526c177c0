#include "lint/cluster/configs.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "catalog/yaml/yaml.h"
#include "lint/kubernetes/field_path.h"
#include "lint/kubernetes/live.h"
#include "lint/nvidia/config.h"
#include "lint/prometheus/rule_file.h"

namespace stoker::lint {
namespace {

// Only what has one of these words is read once more: almost no ConfigMap does.
bool may_be_config(std::string_view text) {
  constexpr std::array<std::string_view, 5> words = {"expr:", "mig-configs",
                                                     "sharing:", "migStrategy", "timeSlicing"};
  for (const auto word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// An entry of a ConfigMap as the file that it is.
void lint_entry(std::string_view key, const std::string& text, const Entity& entity,
                std::vector<Finding>& findings) {
  const auto root = may_be_config(text) ? yaml::parse(text, "entry")
                                        : fail(ErrorCode::not_found, "of no interest");
  if (!root) return;
  auto found = is_prometheus_rules(*root) ? lint_prometheus_rules(*root, "entry")
                                          : lint_nvidia_config(*root, "entry");
  for (Finding& finding : found) {
    const int line = finding.location ? finding.location->line : 0;
    finding.field = line > 0 ? fmt::format("data[{}]:{}", key, line) : fmt::format("data[{}]", key);
    finding.location.reset();
    finding.entity = entity;
    findings.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> lint_config_object(std::string_view text, yaml::View object) {
  std::vector<Finding> findings;
  const Entity entity = kubernetes::object_entity(object);
  if (object.find("kind").text() == "ConfigMap") {
    object.find("data").each_entry([&](yaml::View key, yaml::View value) {
      lint_entry(key.text(), std::string(value.text()), entity, findings);
    });
    return findings;
  }
  const auto root = yaml::parse(text, "object");
  if (!root) return findings;
  findings = lint_prometheus_rules(*root, "object");
  for (Finding& finding : findings) {
    const auto at = finding.location.value_or(FileLocation{});
    // A line beyond the first is one of an expression's, whose place in the object is not known.
    finding.field =
        at.line == 1 ? kubernetes::field_path_of(object, {at.line, at.column}) : "spec.groups";
    finding.location.reset();
    finding.entity = entity;
  }
  return findings;
}

}  // namespace stoker::lint
