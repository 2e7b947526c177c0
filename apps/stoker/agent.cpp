#include "agent.h"

#include <algorithm>

#include "base/log.h"
#include "device/probe/supervisor.h"
#include "device/simnode/sim_node.h"
#include "os/system_env.h"

namespace stoker::app {
namespace {

using config::OptionId;
using config::Settings;

device::probe::SampleRates rates_of(const Settings& settings) {
  device::probe::SampleRates rates;
  rates.cheap = settings.duration(OptionId::sample_period_cheap);
  rates.gpm = settings.duration(OptionId::sample_period_gpm);
  rates.firmware = settings.duration(OptionId::sample_period_firmware);
  rates.dear = settings.duration(OptionId::sample_period_dear);
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

// Nothing is older than it should be as long as its period, at the scale in force, says.
store::StoreOptions store_options(const Settings& settings, const os::Env& env) {
  const auto rates = rates_of(settings);
  const auto scaled = [&rates](Nanoseconds period) {
    return Nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(period.count()) / rates.scale));
  };
  store::StoreOptions options{.hostname = env.hostname()};
  for (const auto cost : {CostClass::cheap, CostClass::firmware, CostClass::gpm, CostClass::dear}) {
    options.periods.at(static_cast<std::size_t>(cost)) =
        scaled(device::probe::period_of(rates, cost));
  }
  options.processes_period = scaled(rates.processes);
  return options;
}

// A history's slots are as long as its field's period, at the scale in force.
history::HistoryOptions history_options(const Settings& settings) {
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
  options.period_of = [rates = rates_of(settings)](const Field& row) {
    const sample::NodeSamplerOptions of_node;
    if (row.entity == EntityKind::node) {
      return row.cost == CostClass::cheap ? of_node.period : of_node.disk_period;
    }
    return device::probe::scaled(device::probe::period_of(rates, row.cost), rates.scale);
  };
  return options;
}

exporting::HostLabel host_label_of(const Settings& settings) {
  const std::string& word = settings.text(OptionId::metrics_host_label);
  if (word == "hostname") return exporting::HostLabel::lower;
  if (word == "both") return exporting::HostLabel::both;
  if (word == "none") return exporting::HostLabel::none;
  return exporting::HostLabel::upper;
}

std::vector<FieldId> extra_fields_of(const Settings& settings) {
  std::vector<FieldId> ids;
  for (const auto& name : settings.words(OptionId::metrics_extra_fields)) {
    if (const auto id = find_field(name)) ids.push_back(*id);
  }
  return ids;
}

log::Level log_level_of(const Settings& settings) {
  const std::string& word = settings.text(OptionId::log_level);
  if (word == "debug") return log::Level::debug;
  if (word == "warning") return log::Level::warning;
  if (word == "error") return log::Level::error;
  return log::Level::info;
}

std::optional<unsigned> count_of(const Settings& settings, OptionId id) {
  const std::string& text = settings.text(id);
  if (text.empty()) return std::nullopt;
  return static_cast<unsigned>(std::stoul(text));  // digits alone: config/value.cpp
}

exporting::SeriesOptions series_of(const Settings& settings) {
  return {
      .host_label = host_label_of(settings),
      .extra_fields = extra_fields_of(settings),
      .node_label = settings.text(OptionId::metrics_node_label),
      .max_series =
          count_of(settings, OptionId::metrics_max_series).value_or(exporting::default_max_series)};
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

api::ServiceOptions service_options(const Settings& settings, const std::string& profile,
                                    const history::History& history) {
  return {.version = STOKER_VERSION,
          .revision = STOKER_REVISION,
          .simulated_profile = profile,
          .series = series_of(settings),
          .expected = expected_of(settings),
          .history = &history};
}

device::probe::SupervisorOptions supervisor_options(const Settings& settings) {
  device::probe::SupervisorOptions options;
  options.library = settings.text(OptionId::probe_library);
  options.rates = rates_of(settings);
  options.timing = timing_of(settings);
  return options;
}

// The simulated node under `data`, and how a probe gets at it.
Result<SourceParts> make_simulated(const Settings& settings, const std::string& data) {
  const std::string& profile = settings.text(OptionId::sim_profile);
  auto options = supervisor_options(settings);
  options.library = settings.text(OptionId::sim_library);
  if (options.library.empty()) {
    const auto folder = simnode::library_folder();
    if (!folder) return fail(folder.error());
    options.library = *folder + "/libnvidia-ml.so.1";
  }
  const auto node = simnode::SimNode::create({.profile = profile}, data);
  if (!node) return fail(node.error());
  options.environment = {"STOKER_SIM_STATE=" + node->state_file()};
  options.driver_marker = node->root() + "/proc/driver/nvidia/version";
  return SourceParts{.source = std::make_unique<device::probe::Supervisor>(std::move(options)),
                     .env = os::make_system_env(settings.text(OptionId::root), node->root()),
                     .simulated_profile = profile};
}

}  // namespace

Result<SourceParts> make_source(const Settings& settings, const std::string& data) {
  if (!settings.text(OptionId::sim_profile).empty()) return make_simulated(settings, data);
  const std::string& root = settings.text(OptionId::root);
  return SourceParts{
      .source = std::make_unique<device::probe::Supervisor>(supervisor_options(settings)),
      .env = os::make_system_env(root, root)};
}

Result<std::unique_ptr<Agent>> Agent::start(const Settings& settings, const MakeSource& make) {
  log::set_level(log_level_of(settings));
  auto server = net::HttpServer::bind({.listen = settings.text(OptionId::listen)});
  if (!server) return fail(server.error());
  auto data = DataFolder::take(settings.text(OptionId::data));
  if (!data) return fail(data.error());
  auto parts = make(settings, data->path());
  if (!parts) return fail(parts.error());
  return std::unique_ptr<Agent>(
      new Agent(settings, std::move(*data), std::move(*parts), std::move(*server)));
}

Agent::Agent(const Settings& settings, DataFolder data, SourceParts parts,
             std::unique_ptr<net::HttpServer> server)
    : data_(std::move(data)),
      env_(std::move(parts.env)),
      store_(env_->clock(), store_options(settings, *env_)),
      history_(env_->clock(), history_options(settings)),
      keeper_(history_, data_.path() + "/history.zst"),
      told_({&store_, &history_}),
      derive_(told_),
      source_(std::move(parts.source)),
      node_sampler_(
          *env_,
          {.data_folder = data_.path(), .cache_folder = settings.text(OptionId::disks_cache)},
          [this](const auto& readings, const auto& costs) {
            store_.on_node_readings(readings);
            history_.on_node_readings(readings);
            store_.on_node_costs(costs);
          }),
      devices_watch_(*env_, [this](NodeDevices seen) { store_.on_node_devices(std::move(seen)); }),
      service_([this] { return store_.snapshot(); },
               service_options(settings, parts.simulated_profile, history_), env_->clock()),
      counters_watch_([this](auto counters, auto findings) {
        service_.set_counters(std::move(counters), std::move(findings));
      }),
      server_(std::move(server)) {
  counters_watch_.set_path(settings.text(OptionId::metrics_counters));
  counters_watch_.start();
  keeper_.start();
  source_->start(derive_);
  node_sampler_.start();
  devices_watch_.start();
}

Agent::~Agent() {
  server_.reset();
  counters_watch_.stop();
  devices_watch_.stop();
  node_sampler_.stop();
  source_->stop();
  keeper_.stop();
}

bool Agent::has_readings() const {
  const auto snapshot = store_.snapshot();
  return !snapshot.gpus.empty() &&
         std::ranges::none_of(snapshot.gpus, [](const store::GpuSnapshot& gpu) {
           return gpu.state == device::GpuState::present && !gpu.last_answer;
         });
}

void Agent::serve() {
  server_->serve([this](const net::Request& request) { return service_.answer(request); });
}

void Agent::reload(const Settings& settings) {
  log::set_level(log_level_of(settings));
  service_.set_series(series_of(settings));
  counters_watch_.set_path(settings.text(OptionId::metrics_counters));
  service_.set_expected(expected_of(settings));
}

}  // namespace stoker::app
