#include "device/probe/rates.h"

#include <algorithm>

namespace stoker::device::probe {

Nanoseconds scaled(Nanoseconds period, double scale) {
  return Nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(period.count()) / std::max(scale, 1e-3)));
}

Nanoseconds tick_of(const SampleRates& rates) {
  const Nanoseconds shortest =
      std::min({rates.cheap, rates.gpm, rates.firmware, rates.dear, rates.rare});
  return std::max<Nanoseconds>(scaled(shortest, rates.scale), Milliseconds(1));
}

Nanoseconds period_of(const SampleRates& rates, CostClass cost) {
  switch (cost) {
    case CostClass::cheap: return rates.cheap;
    case CostClass::firmware: return rates.firmware;
    case CostClass::gpm: return rates.gpm;
    case CostClass::dear: return rates.dear;
    case CostClass::rare: return rates.rare;
    case CostClass::fixed: return Nanoseconds{0};
  }
  return rates.dear;
}

}  // namespace stoker::device::probe
