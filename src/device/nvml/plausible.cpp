#include "device/nvml/plausible.h"

#include <cmath>

namespace stoker::nvml {
namespace {

struct Range {
  double low;
  double high;
};

// All ones in 32 bits: what a driver leaves where it has no number. NVIDIA/DCGM#199 and
// NVIDIA/dcgm-exporter#418 saw it as a utilisation.
constexpr double all_ones = 4294967295.0;

// Wide on purpose: they catch garbage, they don't judge a card.
Range range_of(const Field& field) {
  switch (field.unit) {
    // GPM divides counters of two blocks that are not read at one instant; 5 % is our allowance.
    case Unit::percent: return {0, field.getter == Getter::gpm ? 105.0 : 100.0};
    case Unit::ratio: return {0, 1};
    // H100 shuts down at 95 (tests/fixtures/captures/h100x1); boards are specified from -40 for storage.
    case Unit::celsius: return {-50, 200};
    // The largest board limit known is GB300's 1.4 kW, its module's 2.8 kW.
    case Unit::watts: return {0, 10'000};
    // The highest clock told by any card is below 15 GHz (GDDR7's data clock).
    case Unit::megahertz: return {0, 20'000};
    // 192 GiB a card in 2025; one petabyte is out of reach.
    case Unit::bytes: return {0, field.kind == FieldKind::counter ? 9.2e18 : 1e15};
    // NVLink 5 moves 1.8 TB/s both ways.
    case Unit::bytes_per_second: return {0, 1e14};
    case Unit::joules: return {0, 1e15};
    case Unit::seconds:
    case Unit::nanoseconds:
    case Unit::count: return {0, 9.2e18};
    case Unit::none: return {-9.2e18, 9.2e18};
  }
  return {-9.2e18, 9.2e18};
}

}  // namespace

Reading plausible(const Field& field, const Reading& reading) {
  if (!reading.ok()) return reading;
  const double value = as_double(reading.value);
  const Range range = range_of(field);
  const bool left_unset = value == all_ones && field.unit != Unit::bytes;
  if (std::isfinite(value) && value >= range.low && value <= range.high && !left_unset) {
    return reading;
  }
  return Reading::none(Reason::invalid, reading.taken_at, reading.took);
}

}  // namespace stoker::nvml
