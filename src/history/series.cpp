#include "history/series.h"

#include <algorithm>

namespace stoker::history {
namespace {

using wire::Reader;
using wire::Writer;

std::int64_t floor_of(Nanoseconds time, Nanoseconds step) {
  const auto whole = time / step;
  return time % step < Nanoseconds{0} ? whole - 1 : whole;
}

// What was before the first put is not told.
void add(std::vector<Point>& points, HistoryTime at, const Slot& slot) {
  if (!points.empty() || slot.mark.watched()) points.push_back({at, slot});
}

}  // namespace

Series::Series(FieldKind kind, Nanoseconds period, Windows windows)
    : kind_(kind),
      period_(std::max<Nanoseconds>(period, Milliseconds(1))),
      by_reading_(Ring::Kind::readings, windows.readings),
      by_minute_(Ring::Kind::minutes, windows.minutes) {}

std::int64_t Series::number_of(HistoryTime at) const {
  return floor_of(at.since_epoch - phase_, period_);
}

HistoryTime Series::time_of(std::int64_t number) const {
  return {number * period_ + phase_ + period_ / 2};
}

Slot Series::Minute::slot() const {
  if (values == 0) return {.mark = why_none};
  return {least, static_cast<float>(sum / values), most, Mark(Reason::ok)};
}

void Series::add_to_minute(HistoryTime at, float value, Mark mark) {
  const std::int64_t number = floor_of(at.since_epoch, minute);
  if (number < minute_.number) return;
  if (number > minute_.number) {
    if (minute_.number >= 0) by_minute_.put(minute_.number, minute_.slot(), minute_.before);
    minute_ = {.number = number, .before = missing_};
  }
  if (!mark.ok()) {
    minute_.why_none = mark;
    return;
  }
  minute_.least = minute_.values == 0 ? value : std::min(minute_.least, value);
  minute_.most = minute_.values == 0 ? value : std::max(minute_.most, value);
  minute_.sum += static_cast<double>(value);
  ++minute_.values;
}

void Series::put(HistoryTime at, const Reading& reading) {
  if (!in_phase_) {
    phase_ = at.since_epoch % period_ - period_ / 2;
    in_phase_ = true;
  }
  const Mark mark(reading.reason);
  float value = 0;
  if (reading.ok()) {
    const double whole = as_double(reading.value);
    if (!has_offset_) {
      offset_ = kind_ == FieldKind::counter ? whole : 0;
      has_offset_ = true;
    }
    value = static_cast<float>(whole - offset_);
  }
  by_reading_.put(number_of(at), {value, value, value, mark}, missing_);
  add_to_minute(at, value, mark);
  missing_ = Mark(reading.ok() ? Reason::stale : reading.reason);
  last_put_ = std::max(last_put_, at);
}

void Series::put_reason(HistoryTime at, Reason reason) {
  const Mark mark(reason);
  if (in_phase_ && number_of(at) > by_reading_.newest()) {
    by_reading_.put(number_of(at), {.mark = mark}, missing_);
  }
  add_to_minute(at, 0, mark);
  missing_ = mark;
  last_put_ = std::max(last_put_, at);
}

std::vector<Point> Series::readings(HistoryTime since, HistoryTime now) const {
  std::vector<Point> points;
  if (by_reading_.empty()) return points;
  // The slot under way, and the one before it, may just not have been read yet.
  const std::int64_t last = std::max(by_reading_.newest(), number_of(now) - 2);
  const auto window = static_cast<std::int64_t>(by_reading_.slots());
  const std::int64_t first = std::max({by_reading_.oldest(), last - window + 1, number_of(since)});
  for (std::int64_t number = first; number <= last; ++number) {
    add(points, time_of(number),
        number <= by_reading_.newest() ? by_reading_.get(number) : Slot{.mark = missing_});
  }
  return points;
}

std::vector<Point> Series::minutes(HistoryTime since, HistoryTime now) const {
  std::vector<Point> points;
  if (minute_.number < 0 && by_minute_.empty()) return points;
  Ring closed = by_minute_;
  if (minute_.number >= 0) closed.put(minute_.number, minute_.slot(), minute_.before);
  const std::int64_t last = std::max(closed.newest(), floor_of(now.since_epoch, minute) - 1);
  const auto window = static_cast<std::int64_t>(closed.slots());
  const std::int64_t first =
      std::max({closed.oldest(), last - window + 1, floor_of(since.since_epoch, minute)});
  for (std::int64_t number = first; number <= last; ++number) {
    add(points, {number * minute + minute / 2},
        number <= closed.newest() ? closed.get(number) : Slot{.mark = missing_});
  }
  return points;
}

void Series::resize(Windows windows) {
  if (by_reading_.slots() != windows.readings) by_reading_ = by_reading_.resized(windows.readings);
  if (by_minute_.slots() != windows.minutes) by_minute_ = by_minute_.resized(windows.minutes);
}

void Series::write_to(Writer& out) const {
  out.duration(period_);
  out.duration(phase_);
  out.number(offset_);
  out.flag(has_offset_);
  out.duration(last_put_.since_epoch);
  by_reading_.write_to(out);
  Ring closed = by_minute_;
  if (minute_.number >= 0) closed.put(minute_.number, minute_.slot(), minute_.before);
  closed.write_to(out);
}

std::optional<Series> Series::read_from(Reader& in, FieldKind kind) {
  const Nanoseconds period = in.duration();
  Series series(kind, period, {1, 1});
  series.phase_ = in.duration();
  series.offset_ = in.number<double>();
  series.has_offset_ = in.flag();
  series.last_put_ = {in.duration()};
  auto by_reading = Ring::read_from(in, Ring::Kind::readings);
  if (!by_reading) return std::nullopt;
  auto by_minute = Ring::read_from(in, Ring::Kind::minutes);
  if (!by_minute || !in.ok() || period <= Nanoseconds{0}) return std::nullopt;
  series.by_reading_ = std::move(*by_reading);
  series.by_minute_ = std::move(*by_minute);
  return series;
}

bool Series::ends_by(HistoryTime time) const {
  constexpr Nanoseconds longest = std::chrono::hours(24 * 366);
  if (period_ > longest || phase_ > period_ || phase_ < -period_) return false;
  return last_put_ <= time && by_reading_.newest() <= number_of(time) + 1 &&
         by_minute_.newest() <= floor_of(time.since_epoch, minute);
}

void Series::go_on(Nanoseconds period, Windows windows) {
  if (period != period_) {
    period_ = period;
    by_reading_ = Ring(Ring::Kind::readings, windows.readings);
  }
  resize(windows);
}

}  // namespace stoker::history
