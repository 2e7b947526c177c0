// Event stage: the times that logs write.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace stoker::event {

// When a line was written, as far as it says.
struct LogTime {
  std::optional<WallTime> wall;  // a moment that is known
  std::string text;  // as ISO 8601 where date and time are known, else as the log has it
  std::string_view reason =
      "not_said";  // why `wall` is not known: not_said, no_zone, no_year, since_boot
  std::optional<Nanoseconds> since_boot;  // the kernel's own stamp, where the line has one
};

// Each takes a time off the front of `text`; false, and nothing taken, where there is none.
// "2024-08-09T13:32:56[.,]123456+02:00", "2024-08-09 13:32:56".
bool take_iso_time(std::string_view& text, LogTime& time);
// "Fri 2024-08-09 13:32:56 UTC " of journalctl -o short-full.
bool take_full_time(std::string_view& text, LogTime& time);
// "Aug  9 13:32:56[.123456] ", with a month in any language, before or behind the day.
bool take_short_time(std::string_view& text, LogTime& time);
// "1723209176.123456 ", of journalctl -o short-unix.
bool take_unix_time(std::string_view& text, LogTime& time);
// "[Fri Aug  9 13:32:56 2024] ", "[Aug 9 13:32] ": dmesg -T and --reltime.
bool take_dmesg_time(std::string_view& text, LogTime& time);
// "[  123.456789] ", "[  123.456789 <    0.000003>] ", "[<    0.000003>] ", "[  +0.000003] ", and a caller's "[T12] ".
bool take_kernel_stamp(std::string_view& text, LogTime& time);

// Microseconds since 1970 as a journal has them; false where `text` is no number.
bool read_microseconds(std::string_view text, LogTime& time);

}  // namespace stoker::event
