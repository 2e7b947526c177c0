// History stage: what is kept of one field of one entity. Two rings over numbered slots of time: one
// slot a reading for the last hour, and one a minute, as least, mean and most, for the last day.
// Memory is taken when a ring is made, and never grows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "model/reading.h"
#include "model/wire.h"

namespace stoker::history {

// One byte beside each slot: is there a value, and if not, why.
class Mark {
 public:
  constexpr Mark() = default;  // nothing was watched then
  constexpr explicit Mark(Reason reason) : byte_(static_cast<std::uint8_t>(reason) + 1) {}
  // nullopt's byte is 0; an unknown byte (of a later version) is `failed`.
  static Mark from_byte(std::uint8_t byte);

  [[nodiscard]] constexpr bool ok() const {
    return byte_ == static_cast<std::uint8_t>(Reason::ok) + 1;
  }
  [[nodiscard]] constexpr bool watched() const { return byte_ != 0; }
  // Only where watched().
  [[nodiscard]] constexpr Reason reason() const { return static_cast<Reason>(byte_ - 1); }
  [[nodiscard]] constexpr std::uint8_t byte() const { return byte_; }
  friend constexpr bool operator==(Mark, Mark) = default;

 private:
  std::uint8_t byte_ = 0;
};

// What one slot tells. All three are the same in a ring of readings; meaningful only where mark is ok.
struct Slot {
  float least = 0;
  float mean = 0;
  float most = 0;
  Mark mark;
  friend bool operator==(const Slot&, const Slot&) = default;
};

// Slots are numbered by time and hold one value, or three. Those never put, or gone, are not watched.
class Ring {
 public:
  enum class Kind : std::uint8_t { readings, minutes };  // one float a slot, or three

  Ring(Kind kind, std::size_t slots);

  // Slots between the newest and `number` get `between`. One older than the newest is ignored.
  void put(std::int64_t number, const Slot& slot, Mark between);
  [[nodiscard]] Slot get(std::int64_t number) const;

  [[nodiscard]] bool empty() const { return newest_ < 0; }
  [[nodiscard]] std::int64_t newest() const { return newest_; }
  [[nodiscard]] std::int64_t oldest() const;  // that may still be there; newest() + 1 when empty
  [[nodiscard]] std::size_t slots() const { return marks_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_of(kind_, slots()); }
  static std::size_t bytes_of(Kind kind, std::size_t slots);

  // As many slots as asked for; the newest stay.
  [[nodiscard]] Ring resized(std::size_t slots) const;

  // The slots from the oldest to the newest as bytes (file.h), and back: nullopt where they can't be.
  void write_to(wire::Writer& out) const;
  static std::optional<Ring> read_from(wire::Reader& in, Kind kind);

 private:
  [[nodiscard]] std::size_t floats() const { return kind_ == Kind::readings ? 1 : 3; }
  [[nodiscard]] std::size_t place_of(std::int64_t number) const;
  void write(std::int64_t number, const Slot& slot);

  Kind kind_;
  std::int64_t newest_ = -1;
  std::vector<float> values_;
  std::vector<std::uint8_t> marks_;
};

}  // namespace stoker::history
