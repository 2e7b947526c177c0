#include "config/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/closest.h"
#include "config/config_file.h"

namespace stoker::config {
namespace {

void take_environment(const Inputs& inputs, Settings& settings, std::vector<Finding>& findings) {
  for (const Option& row : all_options()) {
    const auto found = inputs.environment.find(row.environment());
    if (found == inputs.environment.end()) continue;
    auto value = parse_value(row, found->second);
    if (value) {
      settings.set(row.id, std::move(*value), {OriginKind::environment, found->first});
      continue;
    }
    auto finding = config_finding("config-wrong-value",
                                  fmt::format("{}: {}", found->first, value.error().message()),
                                  right_values(row, found->second));
    finding.location = FileLocation{"environment"};
    finding.entity = {EntityKind::file, "environment"};
    findings.push_back(std::move(finding));
  }
}

// A variable that is nearly the name of an option was meant to be one; others are not ours to judge.
void warn_of_near_misses(const Inputs& inputs, std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Option& row : all_options()) names.push_back(row.environment());
  for (const auto& [name, value] : inputs.environment) {
    if (!name.starts_with("STOKER_") || std::ranges::find(names, name) != names.end()) continue;
    const auto hint = did_you_mean(name, names);
    if (hint.empty()) continue;
    auto finding = config_finding("config-unknown-variable",
                                  fmt::format("the variable {} is no option", name), hint);
    finding.severity = Severity::warning;
    finding.location = FileLocation{"environment"};
    finding.entity = {EntityKind::file, "environment"};
    findings.push_back(std::move(finding));
  }
}

void take_flags(const Inputs& inputs, Settings& settings, std::vector<Finding>& findings) {
  for (const auto& [id, text] : inputs.flags) {
    const Option& row = option(id);
    auto value = parse_value(row, text);
    if (value) {
      settings.set(id, std::move(*value), {OriginKind::flag, std::string(row.flag)});
      continue;
    }
    auto finding = config_finding("config-wrong-value",
                                  fmt::format("{}: {}", row.flag, value.error().message()),
                                  right_values(row, text));
    finding.location = FileLocation{"command line"};
    finding.entity = {EntityKind::file, "command line"};
    findings.push_back(std::move(finding));
  }
}

// Each step of letting go of a stuck probe has to come after the one before.
void check_order(const Settings& settings, std::vector<Finding>& findings) {
  constexpr std::array steps = {OptionId::probe_hung_after, OptionId::probe_leave_after,
                                OptionId::probe_term_after, OptionId::probe_kill_after};
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const Option& before = option(steps.at(i - 1));
    const Option& after = option(steps.at(i));
    if (settings.duration(before.id) <= settings.duration(after.id)) continue;
    auto finding = config_finding(
        "config-conflict",
        fmt::format("{} ({}) comes before {} ({})", after.key, value_text(settings.value(after.id)),
                    before.key, value_text(settings.value(before.id))),
        fmt::format("{} or more", value_text(settings.value(before.id))));
    finding.location = FileLocation{"options"};
    finding.entity = {EntityKind::file, "options"};
    finding.evidence = {
        fmt::format("{} from {} {}", after.key, to_string(settings.origin(after.id).kind),
                    settings.origin(after.id).text()),
        fmt::format("{} from {} {}", before.key, to_string(settings.origin(before.id).kind),
                    settings.origin(before.id).text())};
    findings.push_back(std::move(finding));
  }
}

// The XDG base directory specification, "XDG_STATE_HOME".
void set_users_data_folder(const Inputs& inputs, Settings& settings) {
  const auto state = inputs.environment.find("XDG_STATE_HOME");
  const auto home = inputs.environment.find("HOME");
  if (state != inputs.environment.end() && state->second.starts_with('/')) {
    settings.set(OptionId::data, state->second + "/stoker", {});
  } else if (home != inputs.environment.end() && !home->second.empty()) {
    settings.set(OptionId::data, home->second + "/.local/state/stoker", {});
  }
}

}  // namespace

const char* to_string(OriginKind kind) {
  switch (kind) {
    case OriginKind::fallback: return "default";
    case OriginKind::file: return "file";
    case OriginKind::environment: return "environment";
    case OriginKind::flag: return "flag";
  }
  return "default";
}

std::string Origin::text() const {
  return line > 0 ? fmt::format("{}:{}:{}", where, line, column) : where;
}

Settings::Settings() {
  for (const Option& row : all_options()) {
    auto value = parse_value(row, row.fallback);
    if (!value) std::abort();  // a row of options.def contradicts itself; config_test shows which
    set(row.id, std::move(*value), {});
  }
}

Resolved resolve(const Inputs& inputs) {
  Resolved result;
  Settings settings;
  if (!inputs.is_root) set_users_data_folder(inputs, settings);
  if (!inputs.file.empty()) {
    take_config(
        inputs.text ? yaml::parse(*inputs.text, inputs.file) : yaml::parse_file(inputs.file),
        inputs.file, settings, result.findings);
  }
  take_environment(inputs, settings, result.findings);
  take_flags(inputs, settings, result.findings);
  check_order(settings, result.findings);
  warn_of_near_misses(inputs, result.findings);
  const bool wrong = std::ranges::any_of(
      result.findings, [](const Finding& finding) { return finding.severity == Severity::error; });
  if (!wrong) result.settings = std::move(settings);
  return result;
}

std::vector<const Option*> changed(const Settings& before, const Settings& after) {
  std::vector<const Option*> rows;
  for (const Option& row : all_options()) {
    if (before.value(row.id) != after.value(row.id)) rows.push_back(&row);
  }
  return rows;
}

void take_live(const Settings& next, Settings& now) {
  for (const Option& row : all_options()) {
    if (row.live) now.set(row.id, next.value(row.id), next.origin(row.id));
  }
}

Finding wrong_value(const Settings& settings, OptionId id, std::string message, std::string fix) {
  const Origin& origin = settings.origin(id);
  Finding finding = config_finding("config-wrong-value", std::move(message), std::move(fix));
  finding.entity = {EntityKind::file, origin.where};
  finding.location = FileLocation{origin.where, origin.line, origin.column};
  return finding;
}

}  // namespace stoker::config
