// Edge: the way of incidents to one other system: one message a state of an incident, tried until it is taken.
// A thread of its own, so that a system that does not answer delays nobody.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/thread_safety.h"
#include "model/finding.h"
#include "model/incident.h"
#include "net/http_client.h"

namespace stoker::notify {

enum class TargetKind : std::uint8_t { webhook, alertmanager };

struct Target {
  TargetKind kind = TargetKind::webhook;
  std::string name;  // "webhook"; by it what was sent is remembered
  std::string url;   // of the webhook; of Alertmanager "http://host:9093"
  std::string
      token_file;  // read at each message; its text is sent as "Authorization: Bearer"; empty: none
};

struct OutboxParts {
  Target target;
  std::string node;                    // as messages call this node
  Severity least = Severity::warning;  // incidents below are not told
  const Clock& clock;
  std::function<void(const SentMark&)> on_sent;  // called in the thread, before the next message
  std::function<Result<net::ClientResponse>(const net::ClientRequest&)> send;
};

// A message that is known to `target` and to nobody else: for people who try whether it arrives.
net::ClientRequest trial_message(const Target& target, const std::string& node, WallTime now);
// Adds the target's token, if it has one.
Result<void> authorize(net::ClientRequest& request, const Target& target);
// Why the answer does not count as taken; nullopt: it does.
std::optional<std::string> refusal(const Result<net::ClientResponse>& answer);

class Outbox {
 public:
  // What waits, at most: of an incident that waits already the newest state takes the place of the older.
  static constexpr std::size_t most_waiting = 1024;
  // Alertmanager forgets an alert that nobody repeats (resolve_timeout, 5 min unless told otherwise:
  // https://prometheus.io/docs/alerting/latest/configuration/).
  static constexpr std::chrono::seconds repeat_every{60};
  static constexpr std::chrono::seconds holds_for{240};

  explicit Outbox(OutboxParts parts);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Before start(): all incidents that are kept, and what was sent of them before a restart. Of those up to the
  // number `after` it is not told which were over before it was there.
  void restore(const std::vector<Incident>& incidents, const std::vector<SentMark>& sent,
               std::uint64_t after) EXCLUDES(mutex_);
  void start();
  // What waits stays for the next start.
  void stop();

  void tell(const std::vector<Incident>& changed) EXCLUDES(mutex_);
  [[nodiscard]] const std::string& target() const { return parts_.target.name; }
  // Sends what is due; how long nothing more is. The thread of start() does it again and again.
  Nanoseconds send_due() EXCLUDES(mutex_);
  // Why it does not arrive; none: it does, or nothing was sent yet.
  [[nodiscard]] std::optional<Finding> problem() const EXCLUDES(mutex_);

 private:
  struct Alert {
    Incident incident;
    MonotonicTime sent_at;
  };

  void add(const Incident& incident) REQUIRES(mutex_);
  [[nodiscard]] std::optional<Incident> next_due() REQUIRES(mutex_);
  [[nodiscard]] net::ClientRequest message_of(const Incident& incident) const;
  Result<net::ClientResponse> deliver(const Incident& incident);
  void was_taken(const Incident& incident) EXCLUDES(mutex_);
  void was_refused(const Incident& incident, std::string why, bool for_good) EXCLUDES(mutex_);

  // Constant after construction.
  const OutboxParts parts_;

  mutable Mutex mutex_;
  CondVar more_;
  bool woken_ GUARDED_BY(mutex_) = false;  // more was told since the thread last looked
  std::map<std::uint64_t, Incident> waiting_ GUARDED_BY(mutex_);       // by id
  std::map<std::uint64_t, std::uint64_t> sent_ GUARDED_BY(mutex_);     // id -> revision
  std::map<std::uint64_t, std::uint64_t> refused_ GUARDED_BY(mutex_);  // for good; id -> revision
  std::map<std::uint64_t, Alert> alerts_ GUARDED_BY(mutex_);           // to be repeated
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  unsigned failures_ GUARDED_BY(mutex_) = 0;  // in a row
  MonotonicTime next_try_ GUARDED_BY(mutex_);
  std::string why_ GUARDED_BY(mutex_);  // of the last failure

  std::jthread thread_;
};

}  // namespace stoker::notify
