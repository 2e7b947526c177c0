// Device stage: what a recording is made of: everything that a source tells, and what the node itself
// tells, each with the time when it was told.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "device/api.h"
#include "model/node_devices.h"

namespace stoker::device::record {

// The node and the agent that recorded it; the first event.
struct Begin {
  WallTime wall;
  std::string version;  // of Stoker
  std::string hostname;
  std::string simulated_profile;  // empty: real cards
  // How often each CostClass, and the list of processes, were read.
  std::vector<Nanoseconds> periods;
  Nanoseconds processes_period{0};
};
// What the wall clock said from then on, where it was set or drifted.
struct WallTold {
  WallTime wall;
};
struct StatusTold {
  SourceStatus status;
};
struct DriverSeen {
  DriverInfo driver;
};
struct InventorySeen {
  std::vector<GpuInfo> gpus;
};
struct ReadingsTold {
  PciAddress gpu;
  std::vector<TargetReading> readings;
};
struct ProcessesTold {
  PciAddress gpu;
  Reading outcome;
  std::vector<ProcessInfo> processes;
};
struct StateTold {
  PciAddress gpu;
  GpuState state = GpuState::present;
  std::string detail;
};
struct CostsTold {
  PciAddress gpu;
  std::vector<CallCost> costs;
};
struct XidTold {
  PciAddress gpu;
  std::uint32_t xid = 0;
  MonotonicTime at;
};
struct NodeReadings {
  std::vector<std::pair<FieldId, Reading>> readings;
};
struct NodeCosts {
  std::vector<CallCost> costs;
};
struct DevicesSeen {
  NodeDevices devices;
};
// The recording was ended, and why; without one it was cut off.
struct End {
  std::string why;
};

using What = std::variant<Begin, WallTold, StatusTold, DriverSeen, InventorySeen, ReadingsTold,
                          ProcessesTold, StateTold, CostsTold, XidTold, NodeReadings, NodeCosts,
                          DevicesSeen, End>;

struct Event {
  MonotonicTime told;  // by the recording node's clock
  What what;
};

}  // namespace stoker::device::record
