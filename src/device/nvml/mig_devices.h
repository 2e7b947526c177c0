// Device stage: the MIG devices of a GPU (compute instances of its GPU instances), as they are now.
#pragma once

#include "device/nvml/card.h"

namespace stoker::nvml {

// Reads MIG mode and devices again into card.info and card.mig_devices, and gives back the GPM
// samples of GPU instances that are gone. True if anything differs from before. On a card without
// MIG it asks once, at the first call.
bool read_mig_devices(Card& card);

}  // namespace stoker::nvml
