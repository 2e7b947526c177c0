#include "device/record/reading_code.h"

#include <bit>
#include <cmath>
#include <optional>

namespace stoker::device::record {
namespace {

// The first byte. A value that is not the same follows as the flag says, then the times.
enum Flag : unsigned {
  same_reason = 1,
  same_value = 2,
  whole = 4,        // an integer: its difference
  thousandths = 8,  // a double that is this integer divided by 1000: its difference
  same_call = 16,   // taken when the one before it in the batch was: by the same call
};

bool same(const Value& one, const Value& other) {
  if (one.index() != other.index()) return false;
  if (one.index() == 0) return std::get<0>(one) == std::get<0>(other);
  return std::bit_cast<std::uint64_t>(std::get<1>(one)) ==
         std::bit_cast<std::uint64_t>(std::get<1>(other));
}

// Watts come as milliwatts, percent as whole numbers: dividing brings back the very same double.
std::optional<std::int64_t> in_thousandths(double value) {
  constexpr double most = 9e12;  // so that the product is exact to the integer (2^53)
  if (!(std::abs(value) < most / 1000)) return std::nullopt;
  const auto number = static_cast<std::int64_t>(std::llround(value * 1000));
  const double back = static_cast<double>(number) / 1000;
  if (!same(Value(back), Value(value))) return std::nullopt;
  return number;
}

std::int64_t whole_of(const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? 0 : *number;
}
std::int64_t thousandths_of(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number == nullptr ? 0 : in_thousandths(*number).value_or(0);
}

unsigned value_flags(const Value& value, const Value& last) {
  if (same(value, last)) return same_value;
  if (value.index() == 0) return whole;
  if (in_thousandths(std::get<double>(value))) return thousandths;
  return 0;
}

void write_value(Out& out, unsigned flags, const Value& value, const Value& last) {
  if ((flags & same_value) != 0) return;
  if ((flags & whole) != 0) {
    out.zigzag(wrapped_difference(whole_of(value), whole_of(last)));
  } else if ((flags & thousandths) != 0) {
    out.zigzag(wrapped_difference(thousandths_of(value), thousandths_of(last)));
  } else {
    out.number(std::get<double>(value));
  }
}

Value read_value(In& in, unsigned flags, const Value& last) {
  if ((flags & same_value) != 0) return last;
  if ((flags & whole) != 0) return wrapped_sum(whole_of(last), in.zigzag());
  if ((flags & thousandths) == 0) return in.number();
  return static_cast<double>(wrapped_sum(thousandths_of(last), in.zigzag())) / 1000;
}

}  // namespace

void write_reading(Out& out, NamesWritten& names, const Reading& reading, Reading& last,
                   Before& before) {
  unsigned flags = value_flags(reading.value, last.value);
  if (reading.reason == last.reason) flags |= same_reason;
  if (reading.taken_at == before.taken_at && reading.took == before.took) flags |= same_call;
  out.varint(flags);
  if ((flags & same_reason) == 0) out.varint(names.number_of(to_string(reading.reason)));
  write_value(out, flags, reading.value, last.value);
  if ((flags & same_call) == 0) {
    out.zigzag(wrapped_difference(reading.took.count(), last.took.count()));
    // One call follows the other at once, so the time between them is about what the later one took.
    const auto since =
        wrapped_difference(reading.taken_at.since_boot.count(), before.taken_at.since_boot.count());
    out.zigzag(wrapped_difference(since, reading.took.count()));
  }
  before = {reading.taken_at, reading.took};
  last = reading;
}

Reading read_reading(In& in, const NamesRead& names, Reading& last, Before& before) {
  Reading reading;
  const auto flags = static_cast<unsigned>(in.varint());
  reading.reason = last.reason;
  if ((flags & same_reason) == 0) {
    const std::string* word = names.find(in.varint());
    if (word == nullptr) in.fail();
    reading.reason = word == nullptr ? Reason::failed : reason_of(*word);
  }
  reading.value = read_value(in, flags, last.value);
  reading.taken_at = before.taken_at;
  reading.took = before.took;
  if ((flags & same_call) == 0) {
    reading.took = plus(last.took, in.zigzag());
    reading.taken_at.since_boot =
        plus(plus(before.taken_at.since_boot, in.zigzag()), reading.took.count());
  }
  before = {reading.taken_at, reading.took};
  last = reading;
  return reading;
}

}  // namespace stoker::device::record
