#include "agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/log.h"
#include "cluster/kubelet.h"
#include "device/probe/supervisor.h"
#include "device/simnode/sim_node.h"
#include "event/previous_boot.h"
#include "notify_targets.h"
#include "os/boot_id.h"
#include "os/system_env.h"
#include "os/user_names.h"
#include "settings_parts.h"

namespace stoker::app {
namespace {

using config::OptionId;
using config::Settings;

constexpr const char* kernel_log_path = "/dev/kmsg";
// A quarter of all that are shown.
constexpr std::size_t most_shown_of_previous_boot = 128;

// How far a replay is; nothing of what is happening now.
std::function<std::optional<ReplayState>()> replay_told(const device::record::Replay* replay) {
  if (replay == nullptr) return {};
  return [replay]() -> std::optional<ReplayState> { return replay->state(); };
}

// Of this machine, whatever node is watched: whoever came through the socket is a user of it.
std::string user_name(std::uint32_t id) {
  const auto env = os::make_system_env("/", "/");
  auto name = os::UserNames(*env).name_of(id);
  return name.empty() ? fmt::format("uid {}", id) : name;
}

// Empty: a replay.
std::string boot_of(const os::Env* env) {
  return env == nullptr ? std::string() : os::boot_id(*env);
}

api::ServiceOptions service_options(const Settings& settings, const history::History& history,
                                    const store::EventLog& events, IncidentDesk& incidents,
                                    api::IncidentFeed& feed,
                                    std::function<std::vector<Finding>()> incident_problems,
                                    const device::record::Replay* replay) {
  return {.version = STOKER_VERSION,
          .revision = STOKER_REVISION,
          .series = series_of(settings),
          .expected = expected_of(settings),
          .checked = [&incidents] { return incidents.checked(); },
          .history = &history,
          .events = &events,
          .incidents = [&incidents](std::optional<std::uint64_t> id) { return incidents.kept(id); },
          .change_incident =
              [&incidents](std::uint64_t id, const incident::Request& request) {
                return incidents.request(id, request);
              },
          .incident_feed = &feed,
          .user_name = [](std::uint32_t id) { return user_name(id); },
          .incident_problems = std::move(incident_problems),
          .replay = replay_told(replay),
          .maintenance = [&incidents] { return incidents.maintenance(); },
          .change_maintenance =
              [&incidents](const MaintenanceRequest& request) {
                return incidents.change_maintenance(request);
              },
          .hold_back = [&incidents](std::vector<Finding>& found) { incidents.hold_back(found); }};
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

Result<SourceParts> make_replay(const Settings& settings) {
  for (const auto other : {OptionId::sim_profile, OptionId::record_file}) {
    if (settings.text(other).empty()) continue;
    return fail(
        ErrorCode::invalid_input,
        fmt::format("a replay shows a recording and nothing else: leave out {} or {}",
                    config::option(OptionId::replay_file).flag, config::option(other).flag));
  }
  auto replay = device::record::Replay::open(settings.text(OptionId::replay_file),
                                             settings.number(OptionId::replay_speed));
  if (!replay) return fail(replay.error());
  SourceParts parts{.simulated_profile = (*replay)->begin().simulated_profile,
                    .replay = replay->get()};
  parts.source = std::move(*replay);
  return parts;
}

// nullptr: not asked for.
Result<std::unique_ptr<device::record::Recorder>> make_recorder(const Settings& settings,
                                                                const SourceParts& parts) {
  const std::string& path = settings.text(OptionId::record_file);
  if (path.empty()) return nullptr;
  return device::record::Recorder::start(parts.env->clock(), {.path = path},
                                         begin_of(settings, parts));
}

// Where it can't be, incidents can be read and not changed.
void open_control_socket(net::HttpServer& server, const std::string& data) {
  const auto opened = server.also_listen_on(data + "/" + control_socket);
  if (!opened) log::warning("no_control_socket", {{"reason", opened.error().describe()}});
}

std::vector<device::Listener*> both(device::Listener& first, device::Listener* second) {
  if (second == nullptr) return {&first};
  return {&first, second};
}

}  // namespace

bool is_replay(const Settings& settings) { return !settings.text(OptionId::replay_file).empty(); }

std::unique_ptr<sample::NodeSampler> make_node_sampler(const Settings& settings,
                                                       const std::shared_ptr<os::Env>& env,
                                                       const std::string& data,
                                                       sample::NodeSampler::Tell tell) {
  return std::make_unique<sample::NodeSampler>(env, node_options(settings, data), std::move(tell));
}

device::record::Begin begin_of(const Settings& settings, const SourceParts& parts) {
  const auto options = store_options(settings, parts);
  return {.version = STOKER_VERSION,
          .hostname = options.hostname,
          .simulated_profile = parts.simulated_profile,
          .periods = {options.periods.begin(), options.periods.end()},
          .processes_period = options.processes_period};
}

Result<SourceParts> make_source(const Settings& settings, const std::string& data) {
  if (is_replay(settings)) return make_replay(settings);
  if (!settings.text(OptionId::sim_profile).empty()) return make_simulated(settings, data);
  const std::string& root = settings.text(OptionId::root);
  return SourceParts{
      .source = std::make_unique<device::probe::Supervisor>(supervisor_options(settings)),
      .env = os::make_system_env(root, root)};
}

Result<std::unique_ptr<Agent>> Agent::start(const Settings& settings, const MakeSource& make) {
  log::set_level(log_level_of(settings));
  auto server = net::HttpServer::bind(
      {.listen = settings.text(OptionId::listen), .always = {"/healthz", "/readyz"}});
  if (!server) return fail(server.error());
  std::optional<DataFolder> data;
  if (!is_replay(settings)) {
    auto taken = DataFolder::take(settings.text(OptionId::data));
    if (!taken) return fail(taken.error());
    data = std::move(*taken);
  }
  auto parts = make(settings, data ? data->path() : std::string());
  if (!parts) return fail(parts.error());
  if (data) open_control_socket(**server, data->path());
  auto recorder = make_recorder(settings, *parts);
  if (!recorder) return fail(recorder.error());
  return std::unique_ptr<Agent>(new Agent(settings, std::move(data), std::move(*parts),
                                          std::move(*recorder), std::move(*server)));
}

Agent::Agent(const Settings& settings, std::optional<DataFolder> data, SourceParts parts,
             std::unique_ptr<device::record::Recorder> recorder,
             std::unique_ptr<net::HttpServer> server)
    : data_(std::move(data)),
      replay_(parts.replay),
      clock_(replay_ != nullptr ? replay_->clock() : parts.env->clock()),
      store_(clock_, store_options(settings, parts)),
      history_(clock_, history_options(settings, parts)),
      recorder_(std::move(recorder)),
      env_(std::move(parts.env)),
      incident_feed_([this] { return incidents_.kept(); }),
      incidents_({.clock = clock_,
                  .snapshot = [this] { return store_.snapshot(); },
                  .file = data_ ? data_->path() + "/incidents.db" : std::string(),
                  .maintenance_file = data_ ? data_->path() + "/maintenance.json" : std::string(),
                  .boot = boot_of(env_.get()),
                  .log = settings.flag(OptionId::events_kernel_log) ? kernel_log_path : "",
                  .expected = expected_of(settings),
                  .checks = checks_of(settings),
                  .events =
                      [this] {
                        std::vector<Event> events;
                        for (auto& one : events_.kept().events)
                          events.push_back(std::move(one.event));
                        return events;
                      },
                  .may_save = [this] { return data_ ? data_->still_ours() : Result<void>{}; },
                  .on_saved =
                      [this](const auto& changed) {
                        incident_feed_.tell(changed);
                        for (const auto& outbox : outboxes_) outbox->tell(changed);
                      }}),
      nvml_xids_(
          clock_, boot_of(env_.get()),
          [this] { return std::ranges::none_of(events_.sources(), &EventSource::followed); },
          [this](Event told) { hear({std::move(told)}); }),
      told_({&store_, &history_, &process_changes_, &nvml_xids_}),
      derive_(told_),
      heard_(both(derive_, recorder_.get())),
      source_(std::move(parts.source)),
      service_([this] { return store_.snapshot(); },
               service_options(
                   settings, history_, events_, incidents_, incident_feed_,
                   [this] { return incident_problems(); }, replay_)),
      counters_watch_([this](auto counters, auto findings) {
        service_.set_counters(std::move(counters), std::move(findings));
      }),
      server_(std::move(server)) {
  // Before anything is heard: they begin with what is on the disk. What is played back has happened; nobody is told of
  // it again.
  if (replay_ == nullptr) open_outboxes(settings);
  incident_feed_.begin();
  counters_watch_.set_path(settings.text(OptionId::metrics_counters));
  counters_watch_.start();
  if (data_) keep_history();
  if (replay_ != nullptr) replay_->tell_node(node_sink());
  source_->start(heard_);
  if (env_ != nullptr) watch_node(settings);
  if (env_ != nullptr && settings.flag(OptionId::attribution_enabled)) watch_attribution(settings);
  if (attribution_watch_ && settings.flag(OptionId::nccl_ask)) watch_jobs(settings);
  if (env_ != nullptr && settings.flag(OptionId::events_kernel_log)) {
    read_previous_boot();
    follow_kernel_log();
  }
  incidents_.start();
  if (data_ && has_diag_schedule(settings)) schedule_tests(settings);
}

Agent::~Agent() {
  server_.reset();
  diag_schedule_.reset();  // its test is told to end
  // What comes from now on nobody has been shown.
  if (recorder_ != nullptr) recorder_->finish("the agent ended");
  source_->stop();               // first, that a probe has all the time there is to leave
  if (keeper_) keeper_->stop();  // before any thread that may wait for a disk or a device
  counters_watch_.stop();
  if (kernel_log_) kernel_log_->stop();
  if (previous_boot_.joinable()) previous_boot_.join();
  if (job_inquiry_) job_inquiry_->stop();
  incidents_.stop();
  for (const auto& outbox : outboxes_) outbox->stop();
  if (attribution_watch_) attribution_watch_->stop();
  if (ports_watch_) ports_watch_->stop();
  if (devices_watch_) devices_watch_->stop();
  if (node_sampler_ != nullptr) node_sampler_->stop();
}

device::record::NodeSink Agent::node_sink() {
  return {.readings =
              [this](const auto& readings) {
                store_.on_node_readings(readings);
                history_.on_node_readings(readings);
                if (recorder_ != nullptr) recorder_->on_node_readings(readings);
              },
          .costs =
              [this](const auto& costs) {
                store_.on_node_costs(costs);
                if (recorder_ != nullptr) recorder_->on_node_costs(costs);
              },
          .devices =
              [this](const NodeDevices& devices) {
                store_.on_node_devices(devices);
                if (recorder_ != nullptr) recorder_->on_node_devices(devices);
              }};
}

void Agent::watch_node(const Settings& settings) {
  const auto sink = node_sink();
  node_sampler_ = make_node_sampler(settings, env_, data_->path(),
                                    [sink](const auto& readings, const auto& costs) {
                                      sink.readings(readings);
                                      sink.costs(costs);
                                    });
  node_sampler_->start();
  devices_watch_.emplace(env_, [sink](const NodeDevices& seen) { sink.devices(seen); });
  devices_watch_->start();
  if (!settings.flag(OptionId::rdma_enabled)) return;
  const auto& left_out = settings.words(OptionId::rdma_leave_out);
  ports_watch_.emplace(sample::PortsWatchParts{
      .env = env_,
      .left_out = {left_out.begin(), left_out.end()},
      .period = rdma_period(settings),
      .tell = [this](RdmaPorts seen) { store_.on_rdma_ports(std::move(seen)); }});
  ports_watch_->start();
}

void Agent::watch_attribution(const Settings& settings) {
  // One for as long as the watch asks it.
  auto kubelet = std::make_shared<cluster::Kubelet>(
      settings.text(OptionId::attribution_kubelet_socket), cluster::kubelet_library());
  attribution_watch_.emplace(cluster::AttributionParts{
      .env = *env_,
      .changes = process_changes_,
      .snapshot = [this] { return store_.snapshot(); },
      .list_pods = [kubelet](const std::stop_token& stop) { return kubelet->list(stop); },
      .tell = [this](Attribution told) { store_.on_attribution(std::move(told)); },
      .period = device::probe::scaled(settings.duration(OptionId::attribution_period),
                                      settings.number(OptionId::sample_scale))});
  attribution_watch_->start();
}

void Agent::watch_jobs(const Settings& settings) {
  // What lies below the devices' root says where that is, a simulated node's too.
  std::string devices = env_->real_path(kernel_log_path);
  devices.resize(devices.size() - std::string_view(kernel_log_path).size());
  JobInquiryParts parts{.clock = clock_,
                        .found = [this] { return incidents_.checked(); },
                        .snapshot = [this] { return store_.snapshot(); },
                        .tell = [this](JobWord word) { incidents_.on_job_word(std::move(word)); }};
  parts.arguments.insert(parts.arguments.end(),
                         {"--root", settings.text(OptionId::root), "--device-root",
                          devices.empty() ? std::string("/") : devices});
  for (const auto& pattern : settings.words(OptionId::nccl_logs))
    parts.arguments.insert(parts.arguments.end(), {"--log", pattern});
  job_inquiry_.emplace(std::move(parts));
  job_inquiry_->start();
}

void Agent::schedule_tests(const Settings& settings) {
  diag_schedule_.emplace(DiagScheduleParts{
      .snapshot = [this] { return store_.snapshot(); },
      .incidents = [this] { return incidents_.kept(); },
      .in_maintenance = [this] { return incidents_.maintenance().has_value(); },
      .tell = [this](std::vector<Finding> found) { incidents_.set_tested(std::move(found)); },
      .show = [this](TestSchedule tests) { store_.on_tests(std::move(tests)); },
      .settings = settings,
      .data = data_->path()});
  diag_schedule_->start();
}

std::vector<Finding> Agent::incident_problems() const {
  auto problems = incidents_.problems();
  for (const auto& outbox : outboxes_) {
    if (auto problem = outbox->problem()) problems.push_back(std::move(*problem));
  }
  return problems;
}

void Agent::hear(std::vector<Event> events) {
  incidents_.on_events(events);
  events_.add(std::move(events));
}

void Agent::open_outboxes(const Settings& settings) {
  for (auto& target : notify_targets(settings)) {
    auto& outbox = outboxes_.emplace_back(std::make_unique<notify::Outbox>(notify::OutboxParts{
        .target = std::move(target),
        .node = env_->hostname(),
        .least = least_notified(settings),
        .clock = clock_,
        .on_sent = [this](const SentMark& sent) { incidents_.on_sent(sent); },
        .send = [](const net::ClientRequest& request) { return net::http_send(request); }}));
    outbox->restore(incidents_.kept(), incidents_.sent(),
                    incidents_.before_target(outbox->target()));
    outbox->start();
  }
}

void Agent::follow_kernel_log() {
  kernel_log_.emplace(
      event::KernelLogParts{.env = env_,
                            .tell = [this](std::vector<Event> told) { hear(std::move(told)); },
                            .tell_source =
                                [this](const EventSource& source) {
                                  events_.on_source(source);
                                  incidents_.on_source(source);
                                  service_.set_event_sources(events_.sources());
                                },
                            .path = kernel_log_path});
  kernel_log_->start();
}

void Agent::read_previous_boot() {
  previous_boot_ = std::jthread([this] {
    auto boot = event::read_previous_boot(*env_);
    // The last alone: what is said now needs the room.
    const auto shown = std::min(boot.events.size(), most_shown_of_previous_boot);
    events_.add({boot.events.end() - static_cast<std::ptrdiff_t>(shown), boot.events.end()});
    incidents_.on_previous_boot(boot);
    boot.events.clear();
    service_.set_previous_boot(std::move(boot));
  });
}

std::optional<ReplayState> Agent::replay() const {
  if (replay_ == nullptr) return std::nullopt;
  return replay_->state();
}

bool Agent::has_readings() const {
  const auto snapshot = store_.snapshot();
  return !snapshot.gpus.empty() &&
         std::ranges::none_of(snapshot.gpus, [](const store::GpuSnapshot& gpu) {
           return gpu.state == device::GpuState::present && !gpu.last_answer;
         });
}

void Agent::keep_history() {
  const auto tell = [this](const Result<void>& saved) {
    service_.set_history_problem(saved ? std::nullopt : std::optional(saved.error()));
  };
  keeper_.emplace(history_, data_->path() + "/history.zst",
                  history::KeeperOptions{.may_save = [this] { return data_->still_ours(); },
                                         .on_change = tell});
  keeper_->start();
}

void Agent::serve() {
  server_->serve([this](const net::Request& request) { return service_.answer(request); });
}

void Agent::reload(const Settings& settings) {
  log::set_level(log_level_of(settings));
  service_.set_series(series_of(settings));
  counters_watch_.set_path(settings.text(OptionId::metrics_counters));
  service_.set_expected(expected_of(settings));
  incidents_.set_expected(expected_of(settings));
  incidents_.set_checks(checks_of(settings));
}

}  // namespace stoker::app
