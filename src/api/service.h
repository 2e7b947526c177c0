// Edge: what the agent answers over HTTP. Pure but for the clock that times scrapes: a snapshot in,
// a response out; never waits for hardware.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/incident_feed.h"
#include "base/clock.h"
#include "base/thread_safety.h"
#include "export/render.h"
#include "health/expected.h"
#include "history/history.h"
#include "incident/book.h"
#include "model/event_source.h"
#include "model/incident.h"
#include "model/maintenance.h"
#include "model/previous_boot.h"
#include "model/replay_state.h"
#include "net/http_server.h"
#include "store/event_log.h"
#include "store/snapshot.h"

namespace stoker::api {

struct ServiceOptions {
  std::string version;
  std::string revision;
  exporting::SeriesOptions series;
  health::Expected expected;
  // What checks find now; not set: none run.
  std::function<std::vector<Finding>()> checked;
  // Must outlive the service; nullptr: none is kept.
  const history::History* history = nullptr;
  // Must outlive the service; nullptr: none are.
  const store::EventLog* events = nullptr;
  // The one with this id, or all, oldest first; not set: none are kept.
  std::function<std::vector<Incident>(std::optional<std::uint64_t>)> incidents;
  // Not set: nobody may. What is not found or can't be done says so.
  std::function<Result<Incident>(std::uint64_t, const incident::Request&)> change_incident;
  // Tells their changes; must outlive the service; nullptr: nobody does.
  IncidentFeed* incident_feed = nullptr;
  // Of a user id, for who changes one; set where change_incident is.
  std::function<std::string(std::uint32_t)> user_name;
  // What is wrong with keeping them; not set: nothing.
  std::function<std::vector<Finding>()> incident_problems;
  // How far a replay is; not set: what is told is happening now.
  std::function<std::optional<ReplayState>()> replay;
  // The planned maintenance that holds something back now; not set: there is never one.
  std::function<std::optional<MaintenanceNow>()> maintenance;
  // Begins or ends one, and says which there is then; set where change_incident is.
  std::function<Result<std::optional<MaintenanceNow>>(const MaintenanceRequest&)>
      change_maintenance;
  // Makes suspicions of the findings that it holds back; set where `maintenance` is.
  std::function<void(std::vector<Finding>&)> hold_back;
};

// Routes: / (what there is), /metrics, /healthz, /health, /readyz, /api/v1/status, /api/v1/gpus,
// /api/v1/gpus/{index|uuid|pci}, /api/v1/topology, /api/v1/expect, /api/v1/history, /api/v1/events,
// /api/v1/incidents, /api/v1/incidents/{id} and .../explanation, /api/v1/incidents/events, /api/v1/fields,
// /api/v1/maintenance.
// GET and HEAD, and POST to one incident and to the maintenance through the Unix socket; anything else is 405. Errors below /api are JSON:
// {"schema":"stoker.dev/v1/error","error":{"code","message"}}.
class Service {
 public:
  using Snapshots = std::function<store::Snapshot()>;

  Service(Snapshots snapshots, ServiceOptions options, const Clock& clock = system_clock());

  // Safe from any thread.
  net::Response answer(const net::Request& request) EXCLUDES(mutex_);

  // Takes over what may change while running (config reload).
  void set_series(exporting::SeriesOptions series) EXCLUDES(mutex_);
  // `counters` may be nullptr (the default list); `findings` are about their file.
  void set_counters(std::shared_ptr<const exporting::CounterList> counters,
                    std::vector<Finding> findings) EXCLUDES(mutex_);
  void set_expected(health::Expected expected) EXCLUDES(mutex_);
  // Why the history is not kept on disk; nullopt: it is.
  void set_history_problem(const std::optional<Error>& problem) EXCLUDES(mutex_);
  // What is known of the boot before this one; its events are not here.
  void set_previous_boot(PreviousBoot boot) EXCLUDES(mutex_);
  // How the sources of events are doing.
  void set_event_sources(const std::vector<EventSource>& sources) EXCLUDES(mutex_);

 private:
  health::Expected expected() EXCLUDES(mutex_);
  std::vector<Finding> findings(const store::Snapshot& snapshot) EXCLUDES(mutex_);
  // About what is told here: the counter file, and families that the last scrape left out.
  std::vector<Finding> own_findings() EXCLUDES(mutex_);
  void take_dropped(const std::vector<exporting::DroppedFamily>& dropped) REQUIRES(mutex_);
  net::Response metrics(const net::Request& request) EXCLUDES(mutex_);
  net::Response history(const net::Request& request);
  net::Response events(const net::Request& request);
  net::Response incident_events(const net::Request& request);
  net::Response incidents(const net::Request& request);
  net::Response change_incident(const net::Request& request);
  [[nodiscard]] std::optional<MaintenanceNow> maintenance() const;
  net::Response change_maintenance(const net::Request& request);
  std::optional<PreviousBoot> previous_boot() EXCLUDES(mutex_);
  [[nodiscard]] std::optional<history::HistoryFacts> history_facts() const;

  // Constant after construction.
  const Snapshots snapshots_;
  const std::function<std::vector<Finding>()> checked_;
  const history::History* const history_;
  const store::EventLog* const events_;
  const std::function<std::vector<Incident>(std::optional<std::uint64_t>)> incidents_;
  const std::function<Result<Incident>(std::uint64_t, const incident::Request&)> change_incident_;
  IncidentFeed* const incident_feed_;
  const std::function<std::string(std::uint32_t)> user_name_;
  const std::function<std::vector<Finding>()> incident_problems_;
  const std::function<std::optional<ReplayState>()> replay_;
  const std::function<std::optional<MaintenanceNow>()> maintenance_;
  const std::function<Result<std::optional<MaintenanceNow>>(const MaintenanceRequest&)>
      change_maintenance_;
  const std::function<void(std::vector<Finding>&)> hold_back_;
  const std::string version_;
  const Clock& clock_;

  Mutex mutex_;
  exporting::RenderOptions render_ GUARDED_BY(mutex_);
  health::Expected expected_ GUARDED_BY(mutex_);
  std::vector<Finding> counter_findings_ GUARDED_BY(mutex_);
  std::optional<Finding> history_finding_ GUARDED_BY(mutex_);
  std::vector<Finding> source_findings_ GUARDED_BY(mutex_);
  std::optional<PreviousBoot> previous_boot_ GUARDED_BY(mutex_);
  std::vector<exporting::DroppedFamily> dropped_ GUARDED_BY(mutex_);
};

}  // namespace stoker::api
