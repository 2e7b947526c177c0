#include "settings_parts.h"

#include <algorithm>

namespace stoker::app {
namespace {

using config::OptionId;
using config::Settings;

// What was recorded was read as often as the recording says.
exporting::HostLabel host_label_of(const Settings& settings) {
  const std::string& word = settings.text(OptionId::metrics_host_label);
  if (word == "hostname") return exporting::HostLabel::lower;
  if (word == "both") return exporting::HostLabel::both;
  if (word == "none") return exporting::HostLabel::none;
  return exporting::HostLabel::upper;
}

exporting::OwnerSeries owner_series_of(const Settings& settings) {
  const std::string& word = settings.text(OptionId::metrics_owners);
  if (word == "per_owner") return exporting::OwnerSeries::per_owner;
  if (word == "info") return exporting::OwnerSeries::info;
  if (word == "off") return exporting::OwnerSeries::off;
  return exporting::OwnerSeries::inline_labels;
}

std::vector<FieldId> extra_fields_of(const Settings& settings) {
  std::vector<FieldId> ids;
  for (const auto& name : settings.words(OptionId::metrics_extra_fields)) {
    if (const auto id = find_field(name)) ids.push_back(*id);
  }
  return ids;
}

std::optional<unsigned> count_of(const Settings& settings, OptionId id) {
  const std::string& text = settings.text(id);
  if (text.empty()) return std::nullopt;
  return static_cast<unsigned>(std::stoul(text));  // digits alone: config/value.cpp
}

}  // namespace

device::probe::SampleRates rates_of(const Settings& settings) {
  device::probe::SampleRates rates;
  rates.cheap = settings.duration(OptionId::sample_period_cheap);
  rates.gpm = settings.duration(OptionId::sample_period_gpm);
  rates.firmware = settings.duration(OptionId::sample_period_firmware);
  rates.dear = settings.duration(OptionId::sample_period_dear);
  rates.rare = settings.duration(OptionId::sample_period_rare);
  rates.processes = settings.duration(OptionId::sample_period_processes);
  rates.refresh = settings.duration(OptionId::sample_period_refresh);
  rates.scale = settings.number(OptionId::sample_scale);
  return rates;
}

device::probe::Timing timing_of(const Settings& settings) {
  device::probe::Timing timing;
  timing.hung_after = settings.duration(OptionId::probe_hung_after);
  timing.leave_after = settings.duration(OptionId::probe_leave_after);
  timing.term_after = settings.duration(OptionId::probe_term_after);
  timing.kill_after = settings.duration(OptionId::probe_kill_after);
  timing.stop_wait = Milliseconds(1500);  // `stoker up` ends within two seconds of a signal
  return timing;
}

sample::NodeSamplerOptions node_options(const Settings& settings, const std::string& data) {
  auto options = sample::node_periods(rates_of(settings));
  options.data_folder = data;
  options.cache_folder = settings.text(OptionId::disks_cache);
  return options;
}

store::StoreOptions store_options_of(const device::record::Begin& begin) {
  store::StoreOptions options{.hostname = begin.hostname,
                              .simulated_profile = begin.simulated_profile,
                              .processes_period = begin.processes_period};
  for (std::size_t n = 0; n < std::min(begin.periods.size(), options.periods.size()); ++n) {
    options.periods.at(n) = begin.periods[n];
  }
  return options;
}

Nanoseconds rdma_period(const Settings& settings) {
  return device::probe::scaled(settings.duration(OptionId::rdma_period),
                               settings.number(OptionId::sample_scale));
}

store::StoreOptions store_options(const Settings& settings, const SourceParts& parts) {
  if (parts.replay != nullptr) return store_options_of(parts.replay->begin());
  const auto rates = rates_of(settings);
  store::StoreOptions options{.hostname = parts.env->hostname(),
                              .simulated_profile = parts.simulated_profile};
  for (const auto cost :
       {CostClass::cheap, CostClass::firmware, CostClass::gpm, CostClass::dear, CostClass::rare}) {
    options.periods.at(static_cast<std::size_t>(cost)) =
        device::probe::scaled(device::probe::period_of(rates, cost), rates.scale);
  }
  options.processes_period = device::probe::scaled(rates.processes, rates.scale);
  options.attribution_period =
      device::probe::scaled(settings.duration(OptionId::attribution_period), rates.scale);
  options.devices_period = sample::DevicesWatch::default_period;
  if (settings.flag(OptionId::rdma_enabled)) options.ports_period = rdma_period(settings);
  return options;
}

history::HistoryOptions history_options(const Settings& settings, const SourceParts& parts) {
  history::HistoryOptions options{.fields = history::default_fields(),
                                  .node_fields = history::default_node_fields()};
  if (const auto& names = settings.words(OptionId::history_fields); !names.empty()) {
    options.fields.clear();
    for (const auto& name : names) {
      const auto id = find_field(name);
      if (id && std::ranges::find(options.fields, *id) == options.fields.end()) {
        options.fields.push_back(*id);
      }
    }
  }
  options.period_of = [rates = rates_of(settings),
                       periods = store_options(settings, parts).periods](const Field& row) {
    const sample::NodeSamplerOptions of_node = sample::node_periods(rates);
    if (row.entity == EntityKind::node) {
      return row.cost == CostClass::cheap ? of_node.period : of_node.disk_period;
    }
    return periods.at(static_cast<std::size_t>(row.cost));
  };
  return options;
}

log::Level log_level_of(const Settings& settings) {
  const std::string& word = settings.text(OptionId::log_level);
  if (word == "debug") return log::Level::debug;
  if (word == "warning") return log::Level::warning;
  if (word == "error") return log::Level::error;
  return log::Level::info;
}

exporting::SeriesOptions series_of(const Settings& settings) {
  return {
      .host_label = host_label_of(settings),
      .extra_fields = extra_fields_of(settings),
      .node_label = settings.text(OptionId::metrics_node_label),
      .owners = owner_series_of(settings),
      .pod_labels = settings.text(OptionId::metrics_pod_labels) == "pod_name"
                        ? exporting::PodLabels::pod_name
                        : exporting::PodLabels::pod,
      .max_series =
          count_of(settings, OptionId::metrics_max_series).value_or(exporting::default_max_series),
      .rdma = settings.flag(OptionId::metrics_rdma)};
}

health::CheckSet checks_of(const Settings& settings) {
  const std::string& folder = settings.text(OptionId::checks_folder);
  if (folder.empty()) return {.checks = health::built_in_checks(), .findings = {}};
  auto changed = health::read_overrides(folder, health::built_in_checks());
  if (changed) return std::move(*changed);
  Finding finding;
  finding.rule = "checks-folder-unread";
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, folder};
  finding.message = "The folder of checks can't be read, so the built-in ones are in force";
  finding.action = Action::fix_config;
  finding.fix = "Make it, or leave out checks.folder";
  finding.source = "docs/specs/checks.md";
  finding.evidence.push_back(changed.error().describe());
  return {.checks = health::built_in_checks(), .findings = {std::move(finding)}};
}

health::Expected expected_of(const Settings& settings) {
  return {.gpus = count_of(settings, OptionId::expect_gpus),
          .products = settings.words(OptionId::expect_product),
          .driver = settings.text(OptionId::expect_driver),
          .nics = settings.words(OptionId::expect_nics),
          .nvlinks = count_of(settings, OptionId::expect_nvlinks),
          .pcie_generation = count_of(settings, OptionId::expect_pcie_generation),
          .pcie_width = count_of(settings, OptionId::expect_pcie_width)};
}

}  // namespace stoker::app
