#include "event/log_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/text.h"
#include "event/cursor.h"

namespace stoker::event {
namespace {

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
  Nanoseconds fraction{0};
  std::string text;  // "13:32:56.123456"
};

std::optional<int> take_digits(Cursor& cursor, std::size_t count, int most) {
  const auto found = cursor.rest().substr(0, count);
  const auto number = whole_number<int>(found);
  if (found.size() != count || !number || *number < 0 || *number > most) return std::nullopt;
  cursor.take(found);
  return number;
}

Nanoseconds take_fraction(Cursor& cursor) {
  Cursor ahead = cursor;
  if (!ahead.take(".") && !ahead.take(",")) return Nanoseconds(0);
  const auto found = ahead.take_of(digits);
  if (found.empty()) return Nanoseconds(0);
  constexpr std::size_t kept = 9;
  std::string padded(found.substr(0, kept));
  padded.resize(kept, '0');
  cursor = ahead;
  return Nanoseconds(whole_number<std::int64_t>(padded).value_or(0));
}

std::optional<TimeOfDay> take_clock(Cursor& cursor) {
  constexpr int last_hour = 23;
  constexpr int last_minute = 59;
  constexpr int leap_second = 60;
  Cursor ahead = cursor;
  TimeOfDay clock;
  const auto before = ahead.rest();
  const auto hour = take_digits(ahead, 2, last_hour);
  if (!hour || !ahead.take(":")) return std::nullopt;
  const auto minute = take_digits(ahead, 2, last_minute);
  if (!minute || !ahead.take(":")) return std::nullopt;
  const auto second = take_digits(ahead, 2, leap_second);
  if (!second) return std::nullopt;
  clock = {.hour = *hour,
           .minute = *minute,
           .second = *second,
           .fraction = take_fraction(ahead),
           .text = {}};
  clock.text = before.substr(0, before.size() - ahead.rest().size());
  std::ranges::replace(clock.text, ',', '.');
  cursor = ahead;
  return clock;
}

// "Z", "UTC", "GMT", "+02:00", "+0200", "+02": minutes east of Greenwich.
std::optional<int> take_zone(Cursor& cursor) {
  constexpr int last_hour = 14;
  constexpr int last_minute = 59;
  constexpr int minutes = 60;
  if (cursor.take("Z") || cursor.take(" UTC") || cursor.take(" GMT")) return 0;
  Cursor ahead = cursor;
  const int sign = ahead.take("+") ? 1 : ahead.take("-") ? -1 : 0;
  if (sign == 0) return std::nullopt;
  const auto hour = take_digits(ahead, 2, last_hour);
  if (!hour) return std::nullopt;
  ahead.take(":");
  const int minute = take_digits(ahead, 2, last_minute).value_or(0);
  cursor = ahead;
  return sign * (*hour * minutes + minute);
}

void set(LogTime& time, std::chrono::year_month_day day, const TimeOfDay& clock,
         std::optional<int> zone) {
  using std::chrono::hours, std::chrono::minutes, std::chrono::seconds, std::chrono::sys_days;
  time.wall.reset();
  time.text = fmt::format("{:04}-{:02}-{:02}T{}", int(day.year()), unsigned(day.month()),
                          unsigned(day.day()), clock.text);
  if (!zone) {
    time.reason = "no_zone";
    return;
  }
  const auto moment = sys_days(day).time_since_epoch() + hours(clock.hour) +
                      minutes(clock.minute - *zone) + seconds(clock.second);
  time.wall = WallTime{std::chrono::duration_cast<Nanoseconds>(moment) + clock.fraction};
  time.reason = {};
}

void set_unknown(LogTime& time, std::string_view text, std::string_view reason) {
  time.wall.reset();
  time.text = text;
  time.reason = reason;
}

// "123" and what stands behind it, ".456789", of the kernel's stamp.
std::optional<Nanoseconds> stamp(std::string_view seconds, Cursor fraction) {
  constexpr std::int64_t most = 1'000'000'000;  // thirty years
  const auto whole = whole_number<std::int64_t>(seconds);
  if (!whole || *whole > most) return std::nullopt;
  return Seconds(*whole) + take_fraction(fraction);
}

// Years before 2262, where 64 bits of nanoseconds end.
std::optional<std::chrono::year_month_day> day_of(int year, int month, int day) {
  constexpr int last_year = 2261;
  const std::chrono::year_month_day found{std::chrono::year(year),
                                          std::chrono::month(static_cast<unsigned>(month)),
                                          std::chrono::day(static_cast<unsigned>(day))};
  if (year < 1970 || year > last_year || !found.ok()) return std::nullopt;
  return found;
}

std::optional<std::chrono::year_month_day> take_date(Cursor& cursor) {
  constexpr std::size_t year_digits = 4;
  constexpr int any_year = 9999;
  Cursor ahead = cursor;
  const auto year = take_digits(ahead, year_digits, any_year);
  if (!year || !ahead.take("-")) return std::nullopt;
  const auto month = take_digits(ahead, 2, 12);
  if (!month || !ahead.take("-")) return std::nullopt;
  const auto day = take_digits(ahead, 2, 31);
  if (!day) return std::nullopt;
  const auto date = day_of(*year, *month, *day);
  if (date) cursor = ahead;
  return date;
}

// 1 to 12; 0: no month in English.
int month_of(std::string_view word) {
  static constexpr std::array<std::string_view, 12> names = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* name = std::ranges::find(names, word);
  return name == names.end() ? 0 : static_cast<int>(name - names.begin()) + 1;
}

// Takes "[", and gives what stands up to "]"; the "]" and the blanks behind it are taken too.
std::optional<std::string_view> take_bracket(std::string_view& text) {
  constexpr std::size_t longest = 64;
  Cursor cursor(text);
  if (!cursor.take("[")) return std::nullopt;
  const auto inner = cursor.take_until("]");
  if (!inner || inner->size() > longest) return std::nullopt;
  cursor.take(":");  // Talos: "[2024-08-09T13:32:56Z]: "
  cursor.skip_blanks();
  text = cursor.rest();
  return inner;
}

// "Aug  9 13:32"
bool is_minute(std::string_view inner) {
  constexpr std::size_t month_size = 3;
  Cursor cursor(inner.substr(std::min(inner.size(), month_size)));
  cursor.skip_blanks();
  const auto day = cursor.take_number<int>();
  cursor.skip_blanks();
  return month_of(inner.substr(0, month_size)) != 0 && day && take_digits(cursor, 2, 23) &&
         cursor.take(":") && take_digits(cursor, 2, 59) && cursor.at_end();
}

bool ends_word(const Cursor& cursor) { return cursor.at_end() || cursor.rest().front() == ' '; }

}  // namespace

bool take_iso_time(std::string_view& text, LogTime& time) {
  Cursor cursor(text);
  const auto date = take_date(cursor);
  if (!date || !(cursor.take("T") || cursor.take(" "))) return false;
  const auto clock = take_clock(cursor);
  if (!clock) return false;
  const auto zone = take_zone(cursor);
  if (!ends_word(cursor) && cursor.rest().front() != ':') return false;
  set(time, *date, *clock, zone);
  cursor.take(":");
  cursor.skip_blanks();
  text = cursor.rest();
  return true;
}

bool take_full_time(std::string_view& text, LogTime& time) {
  Cursor cursor(text);
  constexpr std::size_t longest = 24;  // a weekday in any language
  const auto weekday = cursor.take_until(" ");
  if (!weekday || weekday->empty() || weekday->size() > longest) return false;
  const auto date = take_date(cursor);
  if (!date || !cursor.take(" ")) return false;
  const auto clock = take_clock(cursor);
  if (!clock) return false;
  auto zone = take_zone(cursor);
  if (!zone && cursor.take(" "))
    cursor.take_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");  // "CEST" is not one zone
  if (!ends_word(cursor)) return false;
  set(time, *date, *clock, zone);
  cursor.skip_blanks();
  text = cursor.rest();
  return true;
}

bool take_short_time(std::string_view& text, LogTime& time) {
  // At most three words before the clock, one of them the day: "Aug  9", "9. Aug", "11月 15".
  Cursor cursor(text);
  bool day_seen = false;
  for (int words = 0; words < 3; ++words) {
    const auto blank = cursor.rest().find(' ');
    if (blank == std::string_view::npos || blank == 0) return false;
    auto word = cursor.rest().substr(0, blank);
    cursor.take(word);
    cursor.skip_blanks();
    while (word.ends_with('.') || word.ends_with(',')) word.remove_suffix(1);
    const auto number = whole_number<int>(word);
    day_seen = day_seen || (number && *number >= 1 && *number <= 31);
    const auto clock = day_seen && words > 0 ? take_clock(cursor) : std::nullopt;
    if (!clock) continue;
    if (!ends_word(cursor)) return false;
    set_unknown(time, text.substr(0, text.size() - cursor.rest().size()), "no_year");
    cursor.skip_blanks();
    text = cursor.rest();
    return true;
  }
  return false;
}

bool take_unix_time(std::string_view& text, LogTime& time) {
  constexpr std::size_t fewest = 9;  // digits: after 1973
  constexpr std::size_t most = 10;
  Cursor cursor(text);
  const auto whole = cursor.take_of(digits);
  if (whole.size() < fewest || whole.size() > most || !cursor.rest().starts_with('.')) return false;
  const auto fraction = take_fraction(cursor);
  if (!cursor.take(" ")) return false;
  time.wall = WallTime{Seconds(whole_number<std::int64_t>(whole).value_or(0)) + fraction};
  time.text = format_utc(*time.wall);
  time.reason = {};
  text = cursor.rest();
  return true;
}

bool take_dmesg_time(std::string_view& text, LogTime& time) {
  std::string_view rest = text;
  const auto inner = take_bracket(rest);
  if (!inner) return false;
  if (is_minute(*inner)) {
    set_unknown(time, *inner, "no_year");
    text = rest;
    return true;
  }
  std::string_view iso = *inner;
  if (take_iso_time(iso, time)) {
    text = rest;
    return true;
  }
  // "Fri Aug  9 13:32:56 2024", then perhaps " <    0.000003>"
  Cursor cursor(inner->substr(0, inner->find('<')));
  std::array<std::string_view, 3> words{};
  std::size_t count = 0;
  std::optional<TimeOfDay> clock;
  while (count < words.size() && !(clock = take_clock(cursor))) {
    words[count++] = cursor.rest().substr(0, cursor.rest().find(' '));
    if (words[count - 1].empty()) return false;
    cursor.take(words[count - 1]);
    cursor.skip_blanks();
  }
  if (!clock) clock = take_clock(cursor);
  if (!clock) return false;
  cursor.skip_blanks();
  const auto year = cursor.take_number<int>();
  const int month = count == 3 ? month_of(words[1]) : 0;
  const auto day = count == 3 ? whole_number<int>(words[2]) : std::nullopt;
  const auto date = year && day && month != 0 ? day_of(*year, month, *day) : std::nullopt;
  if (date) {
    set(time, *date, *clock, std::nullopt);
  } else if (year) {
    set_unknown(time, trimmed(*inner), "no_zone");  // a month in another language
  } else {
    return false;
  }
  text = rest;
  return true;
}

bool take_kernel_stamp(std::string_view& text, LogTime& time) {
  std::string_view rest = text;
  const auto inner = take_bracket(rest);
  if (!inner || inner->empty()) return false;
  Cursor cursor(*inner);
  cursor.skip_blanks();
  if (cursor.take("T") || cursor.take("C")) {  // CONFIG_PRINTK_CALLER
    if (cursor.take_of(digits).empty() || !cursor.at_end()) return false;
    text = rest;
    return true;
  }
  const bool delta = cursor.take("<") || cursor.take("+");
  cursor.skip_blanks();
  const auto seconds = cursor.take_of(digits);
  const auto fraction = cursor;
  if (seconds.empty() || !cursor.take(".") || cursor.take_of(digits).empty()) return false;
  if (!cursor.at_end() && cursor.take_of(" <>.,0123456789CPUT").empty()) return false;
  if (!cursor.at_end()) return false;
  if (!delta && !time.since_boot) time.since_boot = stamp(seconds, fraction);
  if (time.wall.has_value() || time.reason != "not_said") {
    // The log's own time is the better one.
  } else if (delta) {
    set_unknown(time, trimmed(*inner), "not_said");
  } else {
    set_unknown(time, trimmed(inner->substr(0, inner->find('<'))), "since_boot");
  }
  text = rest;
  return true;
}

bool read_microseconds(std::string_view text, LogTime& time) {
  const auto number = whole_number<std::int64_t>(text);
  constexpr std::int64_t most = std::int64_t{9'000'000'000} * 1'000'000;  // 64 bits of nanoseconds
  if (!number || *number < 0 || *number > most) return false;
  time.wall = WallTime{std::chrono::microseconds(*number)};
  time.text = format_utc(*time.wall);
  time.reason = {};
  return true;
}

}  // namespace stoker::event
