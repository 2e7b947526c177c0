#include "settings_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/closest.h"
#include "counters_watch.h"
#include "device/simnode/sim_node.h"
#include "notify_targets.h"

namespace stoker::app {
namespace {

void check_profile(const config::Settings& settings, std::vector<Finding>& findings) {
  const std::string& profile = settings.text(config::OptionId::sim_profile);
  const auto known = simnode::profile_names();
  if (profile.empty() || std::ranges::find(known, profile) != known.end()) return;
  const auto hint = did_you_mean(profile, known);
  findings.push_back(
      config::wrong_value(settings, config::OptionId::sim_profile,
                          fmt::format("there is no simulated profile \"{}\"", profile),
                          hint.empty() ? fmt::format("there are {}", listed(known)) : hint));
}

}  // namespace

void check_settings(const config::Settings& settings, std::vector<Finding>& findings) {
  check_profile(settings, findings);
  check_notify(settings, findings);
  const std::string& counters = settings.text(config::OptionId::metrics_counters);
  if (counters.empty()) return;
  auto loaded = load_counters(counters);
  std::ranges::move(loaded.findings, std::back_inserter(findings));
}

}  // namespace stoker::app
