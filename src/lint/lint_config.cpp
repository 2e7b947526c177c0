#include "lint/lint_config.h"

#include <algorithm>

#include "base/closest.h"
#include "catalog/yaml/map_reader.h"

namespace stoker::lint {
namespace {

const std::vector<std::string> rule_words = {"off", "info", "warning", "error"};
const std::vector<std::string> fail_words = {"info", "warning", "error"};

void read_rules(const yaml::Node& node, const std::vector<std::string>& known, LintConfig& config,
                yaml::Problems& problems) {
  yaml::MapReader reader(node, "rules", problems);
  for (const auto& [key, value] : node.entries) {
    if (std::ranges::find(known, key.text) == known.end()) {
      problems.add(key.place,
                   "there is no rule '" + key.text + "'; " + did_you_mean(key.text, known));
    }
    std::size_t word = 0;
    reader.word(key.text, rule_words, word);
    config.rules[key.text] = word == 0 ? std::nullopt : severity_of(rule_words[word]);
  }
}

}  // namespace

Result<LintConfig> read_lint_config(std::string_view text, const std::string& file,
                                    const std::vector<std::string>& known) {
  const auto node = yaml::parse(text, file);
  if (!node) return fail(node.error());
  LintConfig config;
  yaml::Problems problems(file);
  yaml::MapReader reader(*node, "the file", problems);
  if (const yaml::Node* rules = reader.find("rules")) read_rules(*rules, known, config, problems);
  std::size_t word = fail_words.size();
  reader.word("fail_on", fail_words, word);
  if (word < fail_words.size()) config.fail_on = severity_of(fail_words[word]);
  reader.finish();
  if (!problems.none()) return fail(problems.error());
  return config;
}

void apply_severities(const LintConfig& config, std::vector<Finding>& findings) {
  std::erase_if(findings, [&](const Finding& finding) {
    const auto said = config.rules.find(finding.rule);
    return said != config.rules.end() && !said->second;
  });
  for (Finding& finding : findings) {
    const auto said = config.rules.find(finding.rule);
    if (said != config.rules.end()) finding.severity = *said->second;
  }
}

}  // namespace stoker::lint
