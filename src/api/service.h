// Edge: what the agent answers over HTTP. Pure but for the clock that times scrapes: a snapshot in,
// a response out; never waits for hardware.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/thread_safety.h"
#include "export/render.h"
#include "net/http_server.h"
#include "store/snapshot.h"

namespace stoker::api {

struct ServiceOptions {
  std::string version;
  std::string revision;
  // The simulated node's profile, "hgx-h100"; empty on real cards.
  std::string simulated_profile;
  exporting::HostLabel host_label = exporting::HostLabel::upper;
  std::vector<FieldId> extra_fields;
};

// Routes: / (what there is), /metrics, /healthz, /readyz, /api/v1/status, /api/v1/gpus,
// /api/v1/gpus/{index|uuid|pci}, /api/v1/topology, /api/v1/fields. GET and HEAD; anything else is
// 405. Errors below /api are JSON: {"schema":"stoker.dev/v1/error","error":{"code","message"}}.
class Service {
 public:
  using Snapshots = std::function<store::Snapshot()>;

  Service(Snapshots snapshots, ServiceOptions options, const Clock& clock = system_clock());

  // Safe from any thread.
  net::Response answer(const net::Request& request) EXCLUDES(mutex_);

  // Takes over what may change while running (config reload).
  void set_metrics(exporting::HostLabel host_label, std::vector<FieldId> extra_fields)
      EXCLUDES(mutex_);

 private:
  net::Response metrics(const net::Request& request) EXCLUDES(mutex_);

  // Constant after construction.
  const Snapshots snapshots_;
  const std::string simulated_profile_;
  const std::string version_;
  const Clock& clock_;

  Mutex mutex_;
  exporting::RenderOptions render_ GUARDED_BY(mutex_);
};

}  // namespace stoker::api
