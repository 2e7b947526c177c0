// Store stage: the one picture of the node that everything downstream reads. Readings go in as they
// come; a copy comes out, with what is too old marked stale. Memory only; never waits for hardware.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "catalog/driver_version.h"
#include "catalog/field.h"
#include "device/api.h"
#include "model/attribution.h"
#include "model/node_devices.h"
#include "model/rdma_port.h"
#include "model/reading.h"
#include "model/test_schedule.h"

namespace stoker::store {

// How old a value of one field may be. 0: it never grows old.
struct AllowedAge {
  Nanoseconds usual{0};
  Nanoseconds most{0};  // where the values came less often than the field's cost class says
};

// Readings of one entity, by field. A field that was never told is `pending`, or what mark_all said.
class ReadingSet {
 public:
  // Nothing where a value is there that was taken later (a probe that takes over tells what it read
  // while another one was being heard).
  void set(FieldId id, const Reading& reading);
  [[nodiscard]] Reading get(FieldId id) const;
  [[nodiscard]] bool has(FieldId id) const;
  [[nodiscard]] const std::vector<std::pair<FieldId, Reading>>& all() const { return readings_; }
  // Replaces every reading by a reason, those of fields never told too (a lost GPU has no values).
  void mark_all(Reason reason, MonotonicTime at);
  // Valid readings older than allowed become stale; they keep the time when they were taken.
  void mark_stale(MonotonicTime now, const std::vector<AllowedAge>& allowed_by_field);

 private:
  [[nodiscard]] std::size_t place_of(FieldId id) const;

  std::vector<std::pair<FieldId, Reading>> readings_;  // sorted by FieldId
  std::vector<Nanoseconds> intervals_;  // beside each: from the reading before it to this one
  Reading never_told_;
};

// One Xid number of one GPU.
struct XidTally {
  std::uint64_t count = 0;  // since the agent began to watch; only rises
  MonotonicTime last;
};

struct GpuSnapshot {
  device::GpuInfo info;
  device::GpuState state = device::GpuState::present;
  std::string state_detail;
  MonotonicTime state_since;
  std::optional<MonotonicTime> last_answer;  // when a call about it last brought a value
  ReadingSet readings;
  std::map<std::uint32_t, ReadingSet> migs;     // by index into info.migs
  std::map<std::uint32_t, ReadingSet> nvlinks;  // by link number
  Reading process_outcome;
  std::vector<device::ProcessInfo> processes;
  std::vector<device::CallCost> costs;
  std::map<std::uint32_t, XidTally> xids;  // by number
};

struct Snapshot {
  MonotonicTime taken_at;
  WallTime wall;
  std::string hostname;
  std::string simulated_profile;  // "hgx-h100" where simulated cards were asked for; else empty
  device::SourceStatus source;
  std::optional<device::DriverInfo> driver;
  std::vector<GpuSnapshot> gpus;  // every GPU seen since start, lost ones too, by PCI address
  // Where GPUs and NICs hang, as sysfs told last; nullptr: not read yet.
  std::shared_ptr<const NodeDevices> devices;
  // The ports of its RDMA cards, as sysfs told last; nullptr: nothing looks at them (a replay). Before the first look (`at`
  // is 0 then), and where the looks stopped coming, there are none, and `problem` says so.
  std::shared_ptr<const RdmaPorts> ports;
  // Whose the processes and the GPUs are; nullptr: nothing looks for it (a replay).
  std::shared_ptr<const Attribution> attribution;
  // When idle GPUs were and will be tested; nullptr: they never are (diag.idle), or a replay.
  std::shared_ptr<const TestSchedule> tests;
  ReadingSet node;
  std::vector<device::CallCost> node_costs;
  std::uint64_t dropped = 0;  // what was told beyond StoreLimits, or of GPUs never told; only rises
};

// The GPU at this address, or with this UUID; nullptr: none was seen.
const GpuSnapshot* gpu_at(const Snapshot& snapshot, const PciAddress& pci);
const GpuSnapshot* gpu_with(const Snapshot& snapshot, std::string_view uuid);

// nullopt: the driver has not told, or what it told is no version.
std::optional<DriverVersion> driver_version(const Snapshot& snapshot);

// Are these cards simulated? What the driver in use says of itself; before it has said anything, what was
// asked for. nullopt: neither is known.
std::optional<bool> is_simulated(const Snapshot& snapshot);

inline constexpr std::array<std::string_view, 4> gpu_states = {"present", "lost", "hung",
                                                               "unknown"};
// One of gpu_states; unknown while nothing is told about this node's GPUs.
std::string_view state_of(const GpuSnapshot& gpu, const Snapshot& snapshot);

// Are this source's GPUs being read? False: every one of their readings is unknown.
bool is_telling(device::SourceState state);
// Why a GPU has no values while its source is in `state`; ok while it is telling.
Reason reason_of(device::SourceState state);

}  // namespace stoker::store
