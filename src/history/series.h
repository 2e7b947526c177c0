// History stage: one field of one entity, from readings to slots. Time here is the history's own (see
// history.h): it only goes forward.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/field.h"
#include "history/ring.h"

namespace stoker::history {

// Nanoseconds since the epoch as the history counts them.
struct HistoryTime {
  Nanoseconds since_epoch{0};
  friend auto operator<=>(const HistoryTime&, const HistoryTime&) = default;
};

inline constexpr Nanoseconds minute = Seconds(60);

// How many slots a series has.
struct Windows {
  std::size_t readings = 0;
  std::size_t minutes = 0;
};

// What a stretch of time looked like, oldest first; `at` is the middle of a slot.
struct Point {
  HistoryTime at;
  Slot slot;
};

class Series {
 public:
  // `period`: how often the field is read.
  Series(FieldKind kind, Nanoseconds period, Windows windows);

  // A reading that was taken at `at`. Two in one slot: the later one stays.
  void put(HistoryTime at, const Reading& reading);
  // From `at` on there is no value, for `reason`, until a reading comes.
  void put_reason(HistoryTime at, Reason reason);

  // What was kept of the time from `since` to `now`, a point a reading or a point a minute.
  [[nodiscard]] std::vector<Point> readings(HistoryTime since, HistoryTime now) const;
  [[nodiscard]] std::vector<Point> minutes(HistoryTime since, HistoryTime now) const;
  // To be added to the values of a slot. Counters are kept as their rise since the first reading: a
  // float counts to 2^24 only.
  [[nodiscard]] double offset() const { return offset_; }

  [[nodiscard]] Nanoseconds period() const { return period_; }
  [[nodiscard]] std::size_t bytes() const { return by_reading_.bytes() + by_minute_.bytes(); }
  [[nodiscard]] HistoryTime last_put() const { return last_put_; }
  void resize(Windows windows);

  // As bytes, the minute under way closed as far as it went; and back. A series that is read from
  // bytes has not been watched since its last put. nullopt where the bytes can't be.
  void write_to(wire::Writer& out) const;
  static std::optional<Series> read_from(wire::Reader& in, FieldKind kind);
  // Is nothing in it of a later time? (One slot's rounding aside.)
  [[nodiscard]] bool ends_by(HistoryTime time) const;
  // For a field that is read every `period` now: readings of another period go, minutes stay.
  void go_on(Nanoseconds period, Windows windows);

 private:
  struct Minute {
    std::int64_t number = -1;
    float least = 0;
    float most = 0;
    double sum = 0;
    std::uint32_t values = 0;
    Mark why_none;  // of the last reading that was none
    Mark before;    // what the minutes between the last one and this one are
    [[nodiscard]] Slot slot() const;
  };
  [[nodiscard]] std::int64_t number_of(HistoryTime at) const;
  [[nodiscard]] HistoryTime time_of(std::int64_t number) const;
  void add_to_minute(HistoryTime at, float value, Mark mark);

  FieldKind kind_;
  Nanoseconds period_;
  Nanoseconds phase_{0};  // so that readings come in the middle of slots
  bool in_phase_ = false;
  double offset_ = 0;
  bool has_offset_ = false;
  HistoryTime last_put_;
  Mark missing_;  // what follows the last put is
  Minute minute_;
  Ring by_reading_;
  Ring by_minute_;
};

}  // namespace stoker::history
