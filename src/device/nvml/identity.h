// Device stage: what does not change while a GPU stays open, read once. Some of these calls take
// more than a millisecond (maximum clocks 1.3 ms, tests/fixtures/captures/h100x1), so never in a round.
#pragma once

#include "device/nvml/card.h"

namespace stoker::nvml {

// Fills card.info from card.device, except index, pci, MIG devices and NVLinks. Only a missing name
// or UUID is an error (the code of the call); what else the card doesn't tell stays 0 or empty.
abi::Return read_identity(Card& card);

// The card's NVLinks, active or not: those whose state the driver tells.
void read_nvlinks(Card& card);

// "hopper"; "" where the number is not known here.
const char* word(abi::Architecture architecture);

}  // namespace stoker::nvml
