// Device stage: what every open GPU of this process shares.
#pragma once

#include "device/nvml/abi.h"
#include "device/nvml/driver.h"
#include "device/nvml/gpm_gate.h"
#include "device/nvml/library.h"
#include "device/nvml/process_list.h"
#include "device/nvml/xid_watch.h"

namespace stoker::nvml {

struct Session {
  // Constant once open.
  Library library;
  MatchedAbi abi;
  const Clock* clock = nullptr;
  LookUpProcess look_up_process;

  // Synchronised by themselves.
  ProcessStrides process_strides;
  XidWatch xids;
  GpmGate gpm_gate;

  [[nodiscard]] const abi::Functions& nvml() const { return library.functions; }
};

}  // namespace stoker::nvml
