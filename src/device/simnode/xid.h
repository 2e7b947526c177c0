// Simulated node: what the driver prints for an Xid, and what comes of it.
#pragma once

#include <cstdint>
#include <string>

#include "device/simnode/change.h"

namespace stoker::simnode {

// NVML's recovery actions (field id 230); their words are those of Xid 154's text.
enum class Recovery : std::uint32_t {
  none = 0,
  reset = 1,
  reboot = 2,
  drain_p2p = 3,
  drain_reset = 4
};

// The driver's whole line, "NVRM: Xid (PCI:0000:1b:00): 79, ...". `link` is the NVLink it is about.
std::string xid_line(const sim::State& state, unsigned gpu, unsigned code, unsigned link);

// Prints the Xid, tells its NVML event and raises the recovery action that follows from it, which the
// driver prints as Xid 154 from 565 on. Counters and states are the caller's.
void raise_xid(Change& change, unsigned gpu, unsigned code, unsigned link = 0);

// The recovery action that NVIDIA's catalogue links an Xid with.
Recovery recovery_of(unsigned code);

}  // namespace stoker::simnode
