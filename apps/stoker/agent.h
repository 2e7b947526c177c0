// Composition: one node's agent. Everything that runs is put together here, in the order of the way
// of the data, and taken apart in the opposite order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/service.h"
#include "base/result.h"
#include "cluster/attribution_watch.h"
#include "config/settings.h"
#include "counters_watch.h"
#include "data_folder.h"
#include "device/api.h"
#include "device/record/recorder.h"
#include "device/record/replay.h"
#include "device/tee.h"
#include "diag_schedule.h"
#include "event/kernel_log.h"
#include "event/nvml_xids.h"
#include "history/history.h"
#include "history/keeper.h"
#include "incident_desk.h"
#include "job_inquiry.h"
#include "net/http_server.h"
#include "notify/outbox.h"
#include "os/env.h"
#include "sample/derive.h"
#include "sample/devices_watch.h"
#include "sample/node_sampler.h"
#include "sample/ports_watch.h"
#include "store/event_log.h"
#include "store/store.h"

namespace stoker::app {

// What stands before the store; tests put their own source here.
struct SourceParts {
  std::unique_ptr<device::Source> source;
  std::shared_ptr<os::Env> env;
  std::string simulated_profile;  // empty on real cards
  // Set: `source` is this recording, the node's own readings come from it too, and there is no env.
  device::record::Replay* replay = nullptr;
};
using MakeSource =
    std::function<Result<SourceParts>(const config::Settings&, const std::string& data)>;

// A probe on this machine's cards, or on a simulated node that is made under `data`.
// Or a recording, for which `data` is empty.
Result<SourceParts> make_source(const config::Settings& settings, const std::string& data);
// Of SourceParts; `env` must outlive it.
std::unique_ptr<sample::NodeSampler> make_node_sampler(const config::Settings& settings,
                                                       const std::shared_ptr<os::Env>& env,
                                                       const std::string& data,
                                                       sample::NodeSampler::Tell tell);
bool is_replay(const config::Settings& settings);

// How a recording of `parts` begins.
device::record::Begin begin_of(const config::Settings& settings, const SourceParts& parts);

class Agent {
 public:
  // Takes the address and the data folder (a replay needs none) and starts to sample; serves only after serve(). What fails
  // leaves nothing running. Signals that the caller waits for have to be blocked before: the threads of
  // every part inherit that.
  static Result<std::unique_ptr<Agent>> start(const config::Settings& settings,
                                              const MakeSource& make = make_source);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Where the source stands now.
  [[nodiscard]] device::SourceStatus status() const { return store_.snapshot().source; }
  // What it has said of itself; none: it has not been heard.
  [[nodiscard]] std::optional<device::DriverInfo> driver() const {
    return store_.snapshot().driver;
  }
  // Has every GPU that is there been read once?
  [[nodiscard]] bool has_readings() const;
  void serve();
  // "127.0.0.1:9400" as bound.
  [[nodiscard]] std::string address() const { return server_->address(); }
  // Of a replay; none: what is told is happening now.
  [[nodiscard]] std::optional<ReplayState> replay() const;
  // What is kept of the past by now.
  [[nodiscard]] history::HistoryFacts history() const { return history_.facts(); }
  // Takes over the options that need no restart.
  void reload(const config::Settings& settings);

 private:
  Agent(const config::Settings& settings, std::optional<DataFolder> data, SourceParts parts,
        std::unique_ptr<device::record::Recorder> recorder,
        std::unique_ptr<net::HttpServer> server);
  // Where the node's own readings go.
  device::record::NodeSink node_sink();
  void watch_node(const config::Settings& settings);
  void keep_history();
  void watch_attribution(const config::Settings& settings);
  void watch_jobs(const config::Settings& settings);
  void follow_kernel_log();
  void read_previous_boot();
  void schedule_tests(const config::Settings& settings);
  void hear(std::vector<Event> events);
  [[nodiscard]] std::vector<Finding> incident_problems() const;
  void open_outboxes(const config::Settings& settings);

  // Constant after construction.
  std::optional<DataFolder> data_;        // none: a replay
  device::record::Replay* const replay_;  // source_, if it is one
  const Clock& clock_;

  // Each is safe by itself.
  store::Store store_;
  store::EventLog events_;
  history::History history_;
  std::optional<history::Keeper> keeper_;               // saves history_; none: a replay
  std::unique_ptr<device::record::Recorder> recorder_;  // nullptr: not asked for
  std::shared_ptr<os::Env> env_;                        // nullptr: a replay
  // Before incidents_, which tells them as long as it lives.
  api::IncidentFeed incident_feed_;
  std::vector<std::unique_ptr<notify::Outbox>> outboxes_;  // tell other systems; none: a replay
  IncidentDesk incidents_;                                 // asks store_
  cluster::ProcessChanges process_changes_;
  event::NvmlXids nvml_xids_;  // tells events_ and incidents_, where the kernel log can't
  device::Tee told_;           // tells store_, history_, process_changes_, nvml_xids_
  sample::Derive derive_;      // tells told_
  device::Tee heard_;          // tells derive_ and recorder_
  std::unique_ptr<device::Source> source_;  // tells heard_
  // They tell node_sink(); none: a replay.
  std::unique_ptr<sample::NodeSampler> node_sampler_;
  std::optional<sample::DevicesWatch> devices_watch_;
  std::optional<sample::PortsWatch> ports_watch_;  // tells store_; none: a replay, or off
  std::optional<cluster::AttributionWatch>
      attribution_watch_;                  // tells store_; none: replay, or off
  std::optional<JobInquiry> job_inquiry_;  // asks store_ and incidents_, tells incidents_; likewise
  std::optional<event::KernelLog>
      kernel_log_;              // tells events_, incidents_, service_; none: replay, off
  api::Service service_;        // asks store_, history_, events_ and incidents_
  std::jthread previous_boot_;  // tells events_, incidents_, service_, and ends; none: replay, off
  CountersWatch counters_watch_;               // tells service_
  std::optional<DiagSchedule> diag_schedule_;  // tells incidents_; none: replay, off
  std::unique_ptr<net::HttpServer> server_;    // asks service_
};

}  // namespace stoker::app
