#include "device/probe/rates.h"

namespace stoker::device::probe {

Nanoseconds period_of(const SampleRates& rates, CostClass cost) {
  switch (cost) {
    case CostClass::cheap: return rates.cheap;
    case CostClass::firmware: return rates.firmware;
    case CostClass::gpm: return rates.gpm;
    case CostClass::dear: return rates.dear;
    case CostClass::fixed: return Nanoseconds{0};
  }
  return rates.dear;
}

}  // namespace stoker::device::probe
