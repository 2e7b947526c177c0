#include "notify_targets.h"

#include <fmt/format.h>

#include <fstream>

namespace stoker::app {

using config::OptionId;

std::vector<notify::Target> notify_targets(const config::Settings& settings) {
  std::vector<notify::Target> targets;
  if (const auto& url = settings.text(OptionId::notify_webhook); !url.empty()) {
    targets.push_back({notify::TargetKind::webhook, "webhook", url,
                       settings.text(OptionId::notify_webhook_token_file)});
  }
  if (const auto& url = settings.text(OptionId::notify_alertmanager); !url.empty()) {
    targets.push_back({notify::TargetKind::alertmanager, "Alertmanager", url,
                       settings.text(OptionId::notify_alertmanager_token_file)});
  }
  return targets;
}

Severity least_notified(const config::Settings& settings) {
  return severity_of(settings.text(OptionId::notify_severity)).value_or(Severity::warning);
}

void check_notify(const config::Settings& settings, std::vector<Finding>& findings) {
  for (const auto id : {OptionId::notify_webhook, OptionId::notify_alertmanager}) {
    const std::string& url = settings.text(id);
    const auto problem = url.empty() ? std::nullopt : net::url_problem(url);
    if (!problem) continue;
    findings.push_back(config::wrong_value(
        settings, id, fmt::format("{} is no URL: {}", config::option(id).key, *problem),
        "http://HOST:PORT/PATH or https://HOST/PATH"));
  }
  for (const auto id :
       {OptionId::notify_webhook_token_file, OptionId::notify_alertmanager_token_file}) {
    const std::string& file = settings.text(id);
    if (file.empty() || std::ifstream(file).good()) continue;
    findings.push_back(config::wrong_value(
        settings, id, fmt::format("{} can't be read: \"{}\"", config::option(id).key, file),
        "name a file that holds the token and nothing else"));
  }
}

}  // namespace stoker::app
