// Export stage: those of DCGM's fields that say what a card or its driver is. They are no readings:
// they can be labels (type `label` in a counter file).
#pragma once

#include <string>

#include "store/snapshot.h"

namespace stoker::exporting {

struct TextField {
  int dcgm_id;
  bool number;  // DCGM has it as an int64: dcgm-exporter can print it as a series, Stoker does not
  // Empty where it is not known.
  std::string (*text)(const store::Snapshot& snapshot, const device::GpuInfo& gpu);
};

// nullptr if DCGM's field is not one of these.
const TextField* text_field(int dcgm_id);

}  // namespace stoker::exporting
