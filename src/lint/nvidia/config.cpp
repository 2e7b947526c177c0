#include "lint/nvidia/config.h"

#include <algorithm>
#include <array>

#include "lint/nvidia/report.h"

namespace stoker::lint {
namespace {

constexpr auto nvidia_rows = std::to_array<Rule>({
#define STOKER_LINT_RULE(id, severity, title, why, fix, source, fixing) \
  {id, Severity::severity, title, why, fix, source, Fixing::fixing},
#include "lint/nvidia/rules.def"
#undef STOKER_LINT_RULE
});

bool text_is(const yaml::Node* node, std::string_view text) {
  return node != nullptr && node->kind == yaml::Node::Kind::scalar && node->text == text;
}

// An entry of a ConfigMap: its text as a document, if it is one.
Result<yaml::Node> document_of(const yaml::Node& entry, const std::string& file) {
  if (entry.kind != yaml::Node::Kind::scalar || entry.text.find(':') == std::string::npos) {
    return fail(ErrorCode::invalid_input, "no document");
  }
  return yaml::parse(entry.text, file);
}

void check_config_map(const yaml::Node& root, const std::string& file, NvidiaReport& report) {
  const auto* data = child_of(root, "data");
  if (data == nullptr) return;
  for (const auto& [key, value] : data->entries) {
    const auto document = document_of(value, file);
    if (!document) continue;
    // A block's text begins in the line that libfyaml gives it.
    report.set_offset(value.place.line - 1);
    const auto kind = nvidia_config_of(*document);
    if (kind == NvidiaConfig::device_plugin) check_device_plugin(*document, report);
    if (kind == NvidiaConfig::mig_parted) check_mig_parted(*document, report);
  }
}

}  // namespace

RuleTable nvidia_rules() { return nvidia_rows; }

void NvidiaReport::add(std::string_view rule, const yaml::Node& at, std::string message) {
  FileLocation place{file_, at.place.line, at.place.column};
  if (offset_ >= 0) place = {file_, at.place.line + offset_, 0};
  found_.push_back(finding_of(rule_of(nvidia_rows, rule), std::move(place), std::move(message)));
}

bool is_yes_no(const yaml::Node& node) {
  // sigs.k8s.io/yaml makes booleans of these by YAML 1.1.
  constexpr auto words = std::to_array<std::string_view>(
      {"true", "false", "True", "False", "TRUE", "FALSE", "yes", "no", "Yes", "No", "YES",
       "NO",   "on",    "off",  "On",    "Off",  "ON",    "OFF", "y",  "n",   "Y",  "N"});
  return node.kind == yaml::Node::Kind::scalar && !node.quoted &&
         std::ranges::find(words, node.text) != words.end();
}

bool is_yes(const yaml::Node* node) {
  constexpr auto words = std::to_array<std::string_view>(
      {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"});
  return node != nullptr && !node->quoted && std::ranges::find(words, node->text) != words.end();
}

NvidiaConfig nvidia_config_of(const yaml::Node& root) {
  if (root.kind != yaml::Node::Kind::map) return NvidiaConfig::none;
  if (text_is(child_of(root, "kind"), "ConfigMap")) {
    const auto* data = child_of(root, "data");
    if (data == nullptr) return NvidiaConfig::none;
    const bool any = std::ranges::any_of(data->entries, [](const yaml::Entry& entry) {
      const auto document = document_of(entry.value, "");
      return document && nvidia_config_of(*document) != NvidiaConfig::none;
    });
    return any ? NvidiaConfig::config_map : NvidiaConfig::none;
  }
  if (child_of(root, "kind") != nullptr) return NvidiaConfig::none;
  if (child_of(root, "mig-configs") != nullptr) return NvidiaConfig::mig_parted;
  const auto* sharing = child_of(root, "sharing");
  if (sharing != nullptr &&
      (child_of(*sharing, "timeSlicing") != nullptr || child_of(*sharing, "mps") != nullptr)) {
    return NvidiaConfig::device_plugin;
  }
  const auto* flags = child_of(root, "flags");
  const bool has_flags = flags != nullptr && (child_of(*flags, "migStrategy") != nullptr ||
                                              child_of(*flags, "failOnInitError") != nullptr ||
                                              child_of(*flags, "plugin") != nullptr);
  return has_flags ? NvidiaConfig::device_plugin : NvidiaConfig::none;
}

std::vector<Finding> lint_nvidia_config(const yaml::Node& root, const std::string& file) {
  NvidiaReport report(file);
  switch (nvidia_config_of(root)) {
    case NvidiaConfig::none: break;
    case NvidiaConfig::device_plugin: check_device_plugin(root, report); break;
    case NvidiaConfig::mig_parted: check_mig_parted(root, report); break;
    case NvidiaConfig::config_map: check_config_map(root, file, report); break;
  }
  auto found = report.take();
  sort_findings(found);
  return found;
}

}  // namespace stoker::lint
