#include "event/kernel_log.h"

#include <utility>

#include "base/sleep.h"
#include "event/open_log.h"
#include "os/boot_id.h"

namespace stoker::event {
namespace {

// A log says when there is more; what is said of a source grows no older than this.
constexpr Seconds longest_wait{10};
// A log that can't be opened: the container may get the right later, a simulated node its file.
constexpr Seconds try_again{10};
constexpr std::size_t at_once = 512;

// The kernel stamps with its own clock, which is the monotonic one but for some microseconds.
WallTime wall_of(const Clock& clock, std::uint64_t microseconds) {
  const Nanoseconds ago = clock.monotonic().since_boot -
                          std::chrono::microseconds(static_cast<std::int64_t>(microseconds));
  return {clock.wall().since_epoch - ago};
}

}  // namespace

KernelLog::KernelLog(KernelLogParts parts) : parts_(std::move(parts)) {
  source_.name = parts_.path;
}

KernelLog::~KernelLog() { stop(); }

void KernelLog::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void KernelLog::stop() {
  thread_.request_stop();
  waker_.wake();
  if (thread_.joinable()) thread_.join();
}

void KernelLog::run(const std::stop_token& stop) {
  boot_ = os::boot_id(*parts_.env);
  do {
    auto log = open();
    const Error problem = log ? follow(stop, **log) : log.error();
    if (stop.stop_requested()) return;
    EventSource now = source_;
    now.followed = false;
    now.problem = problem.describe();
    say(std::move(now));
  } while (sleep_unless_stopped(stop, try_again));
}

Result<std::unique_ptr<os::KmsgFollower>> KernelLog::open() {
  auto log = open_kernel_log(*parts_.env, boot_, os::KmsgStart::oldest, parts_.path);
  turn_to(log ? log->name : parts_.path);
  if (!log) return fail(log.error());
  return std::move(log->follower);
}

// What is not followed any more has no problem: another is read in its place.
void KernelLog::turn_to(std::string_view source) {
  if (source == source_.name) return;
  EventSource before = source_;
  before.followed = false;
  before.problem.clear();
  say(std::move(before));
  source_ = EventSource{.name = std::string(source)};
  last_.reset();
}

Error KernelLog::follow(const std::stop_token& stop, os::KmsgFollower& log) {
  const EventSource before = source_;
  std::vector<os::KmsgRecord> records;
  while (!stop.stop_requested()) {
    records.clear();
    const auto added = log.read(records, at_once);
    if (!added) return added.error();
    read_records(records);
    EventSource now = source_;
    now.followed = true;
    now.problem.clear();
    now.records += *added;
    now.overwritten = before.overwritten + log.overwritten();
    now.malformed = before.malformed + log.malformed();
    say(std::move(now));
    if (*added == 0) log.wait(longest_wait, waker_);
  }
  return {ErrorCode::unavailable, "stopped"};
}

void KernelLog::read_records(const std::vector<os::KmsgRecord>& records) {
  std::vector<Event> events;
  for (const auto& record : records) {
    if (was_read_before(record)) continue;
    const std::size_t first = events.size();
    const bool kernel = record.facility == 0;
    parser_.read({.text = record.text, .program = kernel ? "kernel" : "", .kernel = kernel},
                 events);
    for (std::size_t n = first; n < events.size(); ++n) {
      Event& event = events[n];
      event.time = wall_of(parts_.env->clock(), record.microseconds);
      event.origin = {boot_, source_.name, record.sequence};
      // People try their alerts by writing such a line into /dev/kmsg; it says so for ever.
      if (!kernel) event.details.push_back({"writer", "program"});
    }
  }
  if (!events.empty()) parts_.tell(std::move(events));
}

// Numbers begin anew where a file was replaced; its records are then later ones by their time.
bool KernelLog::was_read_before(const os::KmsgRecord& record) {
  if (last_ && record.sequence <= last_->sequence && record.microseconds <= last_->microseconds) {
    return true;
  }
  last_ = {record.sequence, record.microseconds};
  return false;
}

void KernelLog::say(EventSource now) {
  if (now == source_) return;
  source_ = std::move(now);
  parts_.tell_source(source_);
}

}  // namespace stoker::event
