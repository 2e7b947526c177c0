#include "history/ring.h"

#include <algorithm>

namespace stoker::history {

Mark Mark::from_byte(std::uint8_t byte) {
  if (byte == 0) return {};
  constexpr auto last = static_cast<std::uint8_t>(Reason::failed);
  return Mark(byte - 1 > last ? Reason::failed : static_cast<Reason>(byte - 1));
}

Ring::Ring(Kind kind, std::size_t slots)
    : kind_(kind),
      values_(std::max<std::size_t>(slots, 1) * floats()),
      marks_(std::max<std::size_t>(slots, 1)) {}

std::size_t Ring::bytes_of(Kind kind, std::size_t slots) {
  return slots * (1 + sizeof(float) * (kind == Kind::readings ? 1 : 3));
}

std::int64_t Ring::oldest() const {
  if (empty()) return newest_ + 1;
  return std::max<std::int64_t>(0, newest_ - static_cast<std::int64_t>(slots()) + 1);
}

std::size_t Ring::place_of(std::int64_t number) const {
  return static_cast<std::size_t>(number) % slots();
}

void Ring::write(std::int64_t number, const Slot& slot) {
  const std::size_t place = place_of(number);
  marks_[place] = slot.mark.byte();
  if (kind_ == Kind::readings) {
    values_[place] = slot.mean;
    return;
  }
  values_[3 * place] = slot.least;
  values_[3 * place + 1] = slot.mean;
  values_[3 * place + 2] = slot.most;
}

void Ring::put(std::int64_t number, const Slot& slot, Mark between) {
  if (number < 0 || number < newest_) return;
  if (!empty()) {
    const auto first = std::max(newest_ + 1, number - static_cast<std::int64_t>(slots()));
    for (std::int64_t skipped = first; skipped < number; ++skipped) {
      write(skipped, {.mark = between});
    }
  }
  write(number, slot);
  newest_ = number;
}

Slot Ring::get(std::int64_t number) const {
  if (empty() || number < oldest() || number > newest_) return {};
  const std::size_t place = place_of(number);
  const Mark mark = Mark::from_byte(marks_[place]);
  if (kind_ == Kind::readings) {
    return {values_[place], values_[place], values_[place], mark};
  }
  return {values_[3 * place], values_[3 * place + 1], values_[3 * place + 2], mark};
}

Ring Ring::resized(std::size_t slots) const {
  Ring other(kind_, slots);
  if (empty()) return other;
  const auto kept = static_cast<std::int64_t>(other.slots());
  for (auto number = std::max(oldest(), newest_ - kept + 1); number <= newest_; ++number) {
    other.put(number, get(number), {});
  }
  return other;
}

void Ring::write_to(wire::Writer& out) const {
  const std::int64_t first = oldest();
  out.number(newest_);
  out.count(static_cast<std::size_t>(newest_ - first + 1));
  for (std::int64_t number = first; number <= newest_; ++number) {
    const std::size_t place = place_of(number);
    out.number(marks_[place]);
    for (std::size_t part = 0; part < floats(); ++part)
      out.number(values_[floats() * place + part]);
  }
}

std::optional<Ring> Ring::read_from(wire::Reader& in, Kind kind) {
  const auto newest = in.number<std::int64_t>();
  const std::size_t count = in.count(bytes_of(kind, 1));
  if (!in.ok() || newest < -1 || static_cast<std::int64_t>(count) > newest + 1) return std::nullopt;
  Ring ring(kind, count);
  for (std::size_t n = 0; n < count; ++n) {
    const auto number = newest - static_cast<std::int64_t>(count - 1 - n);
    const std::size_t place = ring.place_of(number);
    ring.marks_[place] = in.number<std::uint8_t>();
    for (std::size_t part = 0; part < ring.floats(); ++part) {
      ring.values_[ring.floats() * place + part] = in.number<float>();
    }
  }
  if (count > 0) ring.newest_ = newest;
  return ring;
}

}  // namespace stoker::history
