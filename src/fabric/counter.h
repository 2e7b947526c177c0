// Fabric analyzer: the counters of a port, and what was counted between two looks at one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stoker::fabric {

enum class CounterId : std::uint8_t {
#define STOKER_FABRIC_COUNTER(name, ...) name,
#include "fabric/counters.def"
#undef STOKER_FABRIC_COUNTER
};

// Which capability of a port's agent gives it 64 bits.
enum class CounterGroup : std::uint8_t { errors, traffic };
// What a count tells of the cable that ends at the port (counters.def).
enum class CounterTells : std::uint8_t { signal, drop, other };

struct CounterRow {
  CounterId id;
  std::string_view name;  // as in sysfs and in our files
  unsigned bit;           // in PortCounters, counted from its first byte's highest
  unsigned width;         // there
  unsigned wide_bit;      // in PortCountersExtended
  CounterGroup group;
  CounterTells tells;
  std::uint64_t too_many;  // between two sweeps; 0: never
  std::string_view words;  // "symbol errors"
};

inline constexpr std::size_t counter_count = 17;
inline constexpr unsigned wide_bits = 64;

// In the order of CounterId.
const std::array<CounterRow, counter_count>& counter_rows();
const CounterRow& row_of(CounterId id);
std::optional<CounterId> counter_of(std::string_view name);

// A counter as it stood. It stops at its highest value (volume 1, 16.1.3.5); some hardware begins anew at 0 instead.
struct CounterReading {
  std::uint64_t value = 0;
  unsigned bits = wide_bits;

  [[nodiscard]] bool full() const;
  friend bool operator==(const CounterReading&, const CounterReading&) = default;
};

// What was counted between two readings. `least` is never more than what happened, whatever happened to the counter.
struct Counted {
  std::uint64_t least = 0;
  bool exact = true;  // false: at least so many
  bool fell =
      false;  // it stands lower than before: it was cleared, its device restarted, or it went round
  bool blind = false;  // it stood at its highest value already, and can't have told more
};
Counted counted_between(const CounterReading& before, const CounterReading& now);
// "12", "at least 12"
std::string amount(const Counted& counted);

}  // namespace stoker::fabric
