// Store stage: the one picture of the node that everything downstream reads. Readings go in as they
// come; a copy comes out, with what is too old marked stale. Memory only; never waits for hardware.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/thread_safety.h"
#include "catalog/field.h"
#include "device/api.h"
#include "model/reading.h"

namespace stoker::store {

// Readings of one entity, by field; a field that was never told is `pending`.
class ReadingSet {
 public:
  void set(FieldId id, const Reading& reading);
  [[nodiscard]] Reading get(FieldId id) const;
  [[nodiscard]] bool has(FieldId id) const;
  [[nodiscard]] const std::vector<std::pair<FieldId, Reading>>& all() const { return readings_; }
  // Replaces the reason of every reading (a lost GPU has no values at all).
  void mark_all(Reason reason, MonotonicTime at);
  // Valid readings older than allowed become stale.
  void mark_stale(MonotonicTime now, const std::vector<Nanoseconds>& max_age_by_field);

 private:
  std::vector<std::pair<FieldId, Reading>> readings_;  // sorted by FieldId
};

struct GpuSnapshot {
  device::GpuInfo info;
  device::GpuState state = device::GpuState::present;
  std::string state_detail;
  MonotonicTime state_since;
  ReadingSet readings;
  std::map<std::uint32_t, ReadingSet> migs;     // by index into info.migs
  std::map<std::uint32_t, ReadingSet> nvlinks;  // by link number
  Reading process_outcome;
  std::vector<device::ProcessInfo> processes;
  std::vector<device::CallCost> costs;
  std::map<std::uint32_t, std::uint64_t> xid_counts;  // by Xid number; only rises
};

struct Snapshot {
  MonotonicTime taken_at;
  WallTime wall;
  std::string hostname;
  device::SourceStatus source;
  std::optional<device::DriverInfo> driver;
  std::vector<GpuSnapshot> gpus;  // every GPU seen since start, lost ones too, by PCI address
  ReadingSet node;
  std::vector<device::CallCost> node_costs;
};

}  // namespace stoker::store
