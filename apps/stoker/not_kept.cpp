#include "not_kept.h"

#include <utility>

namespace stoker::app {

Finding not_kept(const std::string& file, std::string rule, std::string message,
                 const Error& error) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, file};
  finding.message = std::move(message);
  finding.action = Action::fix_config;
  finding.source = "docs/specs/incidents.md";
  finding.evidence.push_back(error.describe());
  return finding;
}

}  // namespace stoker::app
