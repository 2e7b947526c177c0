// Edge: the changes of incidents, told to whoever listens (GET /api/v1/incidents/events), as server-sent events:
//   event: anew      what comes next is everything that is not over; what was known before is forgotten
//   event: incident  id: <incident>-<revision>, data: the document of /api/v1/incidents with this one
// An incident is told with each revision, once it is written down, so that no listener knows what a kill would undo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_safety.h"
#include "model/incident.h"
#include "net/event_stream.h"

namespace stoker::api {

// Safe from any thread; nobody ever waits for a listener.
class IncidentFeed {
 public:
  static constexpr std::size_t most_listeners = 32;
  // What was told last is kept for who comes back.
  static constexpr std::size_t kept_events = 256;
  static constexpr std::size_t kept_bytes = 512 << 10;

  // `kept`: all incidents, oldest first.
  explicit IncidentFeed(std::function<std::vector<Incident>()> kept) : kept_(std::move(kept)) {}
  ~IncidentFeed();
  IncidentFeed(const IncidentFeed&) = delete;
  IncidentFeed& operator=(const IncidentFeed&) = delete;

  // Before the first tell(): what is written already.
  void begin() EXCLUDES(mutex_);
  void tell(const std::vector<Incident>& changed) EXCLUDES(mutex_);
  // What came after the event `last_id`, where that is still known; else everything anew. Then whatever is told.
  // unavailable: there are too many listeners.
  Result<std::shared_ptr<net::EventStream>> listen(const std::string& last_id) EXCLUDES(mutex_);

 private:
  struct Told {
    std::string id, text;
  };

  [[nodiscard]] std::string missed_since(const std::string& last_id) const REQUIRES(mutex_);
  [[nodiscard]] std::string anew() const REQUIRES(mutex_);
  void keep(Told told) REQUIRES(mutex_);

  // Constant after construction.
  const std::function<std::vector<Incident>()> kept_;

  Mutex mutex_;
  std::vector<std::shared_ptr<net::EventStream>> listeners_ GUARDED_BY(mutex_);
  std::deque<Told> last_ GUARDED_BY(mutex_);
  std::size_t last_bytes_ GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, std::uint64_t> revisions_ GUARDED_BY(mutex_);  // that were told, by id
};

}  // namespace stoker::api
