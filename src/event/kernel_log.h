// Event stage: follows the kernel log and tells its events, from the oldest line that the kernel still has; where it may
// not be read, what the journal has of it, else a syslog file. A thread of its own: nobody else waits for the log.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "event/event_parser.h"
#include "model/event.h"
#include "model/event_source.h"
#include "os/env.h"
#include "os/kmsg.h"

namespace stoker::event {

struct KernelLogParts {
  std::shared_ptr<const os::Env> env;
  // Called in the thread, in the order of the log, with at least one event.
  std::function<void(std::vector<Event>)> tell;
  // Called in the thread whenever what it says of a source has changed. One is followed at a time.
  std::function<void(const EventSource&)> tell_source;
  std::string path = "/dev/kmsg";
};

class KernelLog {
 public:
  explicit KernelLog(KernelLogParts parts);
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  void start();
  void stop();

 private:
  void run(const std::stop_token& stop);
  // The kernel's own log, else the first journal, else the first syslog file that has this boot; `source_` is then
  // that one.
  Result<std::unique_ptr<os::KmsgFollower>> open();
  // Until it can't be read any more.
  Error follow(const std::stop_token& stop, os::KmsgFollower& log);
  void read_records(const std::vector<os::KmsgRecord>& records);
  bool was_read_before(const os::KmsgRecord& record);
  void say(EventSource now);
  void turn_to(std::string_view source);

  // Constant after construction.
  const KernelLogParts parts_;
  const Waker waker_;  // woken once, to stop

  // The thread's own.
  EventParser parser_;
  std::string boot_;
  // Of the last record that was read: a log that is opened again begins with what was read before.
  struct Place {
    std::uint64_t sequence = 0;
    std::uint64_t microseconds = 0;
  };
  std::optional<Place> last_;  // of source_
  EventSource source_;

  std::jthread thread_;
};

}  // namespace stoker::event
