// Machine stage: the kernel log as records, from /dev/kmsg or from a file that grows in its format
// (a simulated node's). Format: Documentation/ABI/testing/dev-kmsg in the Linux source.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/waker.h"
#include "os/env.h"

namespace stoker::os {

struct KmsgRecord {
  std::uint8_t priority = 0;       // 0 emergency .. 7 debug
  std::uint32_t facility = 0;      // 0: the kernel itself; 1 and more: written by a program
  std::uint64_t sequence = 0;      // counts up within one boot
  std::uint64_t microseconds = 0;  // of the kernel's monotonic clock
  std::string text;                // escapes undone; without the dictionary lines that may follow
  friend bool operator==(const KmsgRecord&, const KmsgRecord&) = default;
};

// One record, "4,1234,5678,-;text" with or without its dictionary lines; corrupt if it is none.
Result<KmsgRecord> parse_kmsg_record(std::string_view record);

// The record as /dev/kmsg would show it, with a newline and no dictionary.
std::string format_kmsg_record(const KmsgRecord& record);

enum class KmsgStart { oldest, end };

// Follows one kernel log. One thread at a time.
class KmsgFollower {
 public:
  virtual ~KmsgFollower() = default;
  // Appends what is there now, at most `max` records, and never waits. Returns how many were added:
  // 0 means that there is nothing more for now. unavailable or io: the log can't be read any more.
  virtual Result<std::size_t> read(std::vector<KmsgRecord>& out, std::size_t max) = 0;
  // Waits until there may be more, at most `timeout` or until the waker is woken; true if there may be.
  virtual bool wait(Milliseconds timeout, const Waker& waker) = 0;
  // Records that were overwritten before they were read. Only rises.
  [[nodiscard]] virtual std::uint64_t overwritten() const = 0;
  // Records that were no records. Only rises.
  [[nodiscard]] virtual std::uint64_t malformed() const = 0;
};

// Opens `path`; `env` must outlive the follower. A character device is read as /dev/kmsg is, anything
// else as a file that grows.
// no_permission says what the kernel asks for (root or CAP_SYSLOG where dmesg_restrict is 1).
Result<std::unique_ptr<KmsgFollower>> follow_kmsg(const Env& env, KmsgStart start,
                                                  std::string_view path = "/dev/kmsg");

// One line, which begins at byte `offset` of its file, as a record: corrupt if it ought to be one, nullopt
// if it is none of those that are followed.
using KmsgLineReader =
    std::function<std::optional<Result<KmsgRecord>>(std::string_view line, std::uint64_t offset)>;

// Follows a log of another format from byte `from` on, as it grows, is cut short or replaced; what it is
// then is read from its beginning. `env` must outlive the follower.
Result<std::unique_ptr<KmsgFollower>> follow_lines(const Env& env, std::string_view path,
                                                   std::uint64_t from, KmsgLineReader reader);

}  // namespace stoker::os
