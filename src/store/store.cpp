#include "store/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/duration.h"
#include "sample/good_for.h"

#include "store/bounds.h"
#include "store/inventory.h"
#include "store/owners.h"

namespace stoker::store {
namespace {

Nanoseconds age_for(Nanoseconds period) { return std::max<Nanoseconds>(3 * period, Seconds(5)); }

std::vector<AllowedAge> allowed_ages(const StoreOptions& options) {
  std::vector<AllowedAge> ages;
  ages.reserve(field_count);
  for (const Field& row : all_fields()) {
    const Nanoseconds period = options.periods.at(static_cast<std::size_t>(row.cost));
    if (period == Nanoseconds{0}) {
      ages.emplace_back();
      continue;
    }
    const Nanoseconds next = options.periods.at(static_cast<std::size_t>(slower_class(row.cost)));
    ages.push_back({.usual = age_for(period), .most = age_for(std::max(period, next))});
  }
  return ages;
}

// Where a reading about `target` belongs; nullptr if this GPU has no such part.
ReadingSet* set_of(GpuSnapshot& gpu, const device::Target& target) {
  if (target.kind == EntityKind::gpu) return &gpu.readings;
  if (target.kind == EntityKind::mig && target.number < gpu.info.migs.size()) {
    return &gpu.migs[target.number];
  }
  if (target.kind == EntityKind::nvlink && target.number < StoreLimits::nvlinks_per_gpu) {
    return &gpu.nvlinks[target.number];
  }
  return nullptr;
}

void mark_stale(GpuSnapshot& gpu, MonotonicTime now, const std::vector<AllowedAge>& allowed,
                Nanoseconds processes_age) {
  gpu.readings.mark_stale(now, allowed);
  for (auto& [number, readings] : gpu.migs) readings.mark_stale(now, allowed);
  for (auto& [number, readings] : gpu.nvlinks) readings.mark_stale(now, allowed);
  if (gpu.process_outcome.ok() && now - gpu.process_outcome.taken_at > processes_age) {
    gpu.process_outcome = Reading::none(Reason::stale, gpu.process_outcome.taken_at);
    gpu.processes.clear();
  }
}

bool is_overdue(MonotonicTime at, MonotonicTime now, Nanoseconds period) {
  return period > Nanoseconds{0} && now - at > sample::good_for(period);
}

std::string overdue(std::string_view what, MonotonicTime at, MonotonicTime now) {
  return fmt::format("the last look at {} was {} ago; the next hangs", what,
                     format_duration(now - at));
}

// Of nobody it is known then what it holds.
void forget_owners(Snapshot& snapshot, MonotonicTime at) {
  if (snapshot.attribution == nullptr) return;
  Attribution stale{.processes = snapshot.attribution->processes,
                    .pods = snapshot.attribution->pods};
  for (auto* source : {&stale.processes, &stale.pods}) {
    if (source->reason == Reason::no_source) continue;
    source->reason = Reason::stale;
    source->detail = overdue("processes and pods", at, snapshot.taken_at);
  }
  snapshot.attribution = std::make_shared<const Attribution>(std::move(stale));
}

// Where they hang does not change; whether a port is active does.
void forget_ports(Snapshot& snapshot, MonotonicTime at) {
  if (snapshot.devices == nullptr) return;
  NodeDevices stale = *snapshot.devices;
  for (NicInfo& nic : stale.nics) nic.port_state.clear();
  stale.nics_problem = overdue("RDMA devices", at, snapshot.taken_at);
  snapshot.devices = std::make_shared<const NodeDevices>(std::move(stale));
}

// What they are now nobody knows.
void forget_rdma_ports(Snapshot& snapshot, MonotonicTime at) {
  snapshot.ports = std::make_shared<const RdmaPorts>(
      RdmaPorts{.at = at, .problem = overdue("RDMA ports", at, snapshot.taken_at)});
}

}  // namespace

Store::Store(const Clock& clock, StoreOptions options)
    : clock_(clock), options_(std::move(options)), allowed_(allowed_ages(options_)) {
  now_.hostname = options_.hostname;
  now_.simulated_profile = options_.simulated_profile;
  now_.source.since = ports_at_ = clock_.monotonic();
  if (options_.ports_period > Nanoseconds{0}) {
    now_.ports = std::make_shared<const RdmaPorts>(
        RdmaPorts{.problem = "the RDMA ports have not been looked at yet"});
  }
}

void Store::on_status(const device::SourceStatus& status) {
  const MonotonicTime now = clock_.monotonic();
  const MutexLock lock(mutex_);
  const Reason before = reason_of(now_.source.state);
  now_.source = status;
  now_.dropped += bound(now_.source);
  const Reason reason = reason_of(status.state);
  if (reason == before) return;
  for (GpuSnapshot& gpu : now_.gpus) {
    if (gpu.state == device::GpuState::present) {
      clear_values(gpu, reason == Reason::ok ? Reason::pending : reason, now);
    }
  }
}

void Store::on_driver(const device::DriverInfo& driver) {
  const MutexLock lock(mutex_);
  now_.driver = driver;
  now_.dropped += bound(*now_.driver);
}

void Store::on_inventory(const std::vector<device::GpuInfo>& gpus) {
  const MonotonicTime now = clock_.monotonic();
  const MutexLock lock(mutex_);
  now_.dropped += take_inventory(now_.gpus, gpus, now);
}

void Store::on_readings(const PciAddress& gpu, const std::vector<device::TargetReading>& readings) {
  const MonotonicTime now = clock_.monotonic();
  const MutexLock lock(mutex_);
  GpuSnapshot* known = find_gpu(now_.gpus, gpu);
  if (known == nullptr) now_.dropped += readings.size();
  // What was on its way while the GPU was lost or the driver left is not true any more.
  if (known == nullptr || known->state != device::GpuState::present ||
      !is_telling(now_.source.state)) {
    return;
  }
  for (const device::TargetReading& told : readings) {
    ReadingSet* set = told.field < FieldId::count_ ? set_of(*known, told.target) : nullptr;
    if (set == nullptr) {
      ++now_.dropped;
      continue;
    }
    const Reading reading = sound(told.reading, now);
    if (reading.ok() && field(told.field).proves_answer())
      known->last_answer = std::max(known->last_answer, {reading.taken_at});
    set->set(told.field, reading);
  }
}

void Store::on_processes(const PciAddress& gpu, const Reading& outcome,
                         const std::vector<device::ProcessInfo>& processes) {
  const MonotonicTime now = clock_.monotonic();
  const MutexLock lock(mutex_);
  GpuSnapshot* known = find_gpu(now_.gpus, gpu);
  if (known == nullptr) ++now_.dropped;
  if (known == nullptr || known->state != device::GpuState::present ||
      !is_telling(now_.source.state)) {
    return;
  }
  known->process_outcome = sound(outcome, now);
  known->processes.clear();
  if (known->process_outcome.ok()) {
    known->processes = processes;
    now_.dropped += bound(known->processes);
  }
  drop_owners(now_, age_for(options_.processes_period));
}

void Store::on_gpu_state(const PciAddress& gpu, device::GpuState state, const std::string& detail) {
  const MonotonicTime now = clock_.monotonic();
  const MutexLock lock(mutex_);
  GpuSnapshot* known = find_gpu(now_.gpus, gpu);
  if (known == nullptr) {
    // A GPU that could never be opened is known by its address alone.
    device::GpuInfo address_only;
    address_only.pci = gpu;
    known = add_gpu(now_.gpus, address_only, now);
  }
  if (known == nullptr) {
    ++now_.dropped;
    return;
  }
  known->state_detail = detail;
  now_.dropped += bound(known->state_detail);
  set_state(*known, state, now);
  if (const Reason reason = reason_of(now_.source.state);
      reason != Reason::ok && state == device::GpuState::present) {
    clear_values(*known, reason, now);
  }
}

void Store::on_costs(const PciAddress& gpu, const std::vector<device::CallCost>& costs) {
  const MutexLock lock(mutex_);
  GpuSnapshot* known = find_gpu(now_.gpus, gpu);
  if (known == nullptr) {
    ++now_.dropped;
    return;
  }
  known->costs = costs;
  now_.dropped += bound(known->costs);
}

void Store::on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) {
  const MonotonicTime now = clock_.monotonic();
  const MutexLock lock(mutex_);
  GpuSnapshot* known = find_gpu(now_.gpus, gpu);
  if (known == nullptr ||
      (known->xids.size() >= StoreLimits::xids_per_gpu && !known->xids.contains(xid))) {
    ++now_.dropped;
    return;
  }
  XidTally& tally = known->xids[xid];
  ++tally.count;
  tally.last = std::max(tally.last, std::min(at, now));
}

void Store::on_node_readings(const std::vector<std::pair<FieldId, Reading>>& readings) {
  const MonotonicTime now = clock_.monotonic();
  const MutexLock lock(mutex_);
  for (const auto& [id, reading] : readings) {
    if (id < FieldId::count_) now_.node.set(id, sound(reading, now));
  }
}

void Store::on_node_costs(const std::vector<device::CallCost>& costs) {
  const MutexLock lock(mutex_);
  now_.node_costs = costs;
  now_.dropped += bound(now_.node_costs);
}

void Store::on_node_devices(NodeDevices devices) {
  auto kept = std::make_shared<const NodeDevices>(std::move(devices));
  const MutexLock lock(mutex_);
  now_.devices = std::move(kept);
  devices_at_ = clock_.monotonic();
}

void Store::on_rdma_ports(RdmaPorts ports) {
  auto kept = std::make_shared<const RdmaPorts>(std::move(ports));
  const MutexLock lock(mutex_);
  now_.ports = std::move(kept);
  ports_at_ = clock_.monotonic();
}

void Store::on_tests(TestSchedule tests) {
  auto kept = std::make_shared<const TestSchedule>(std::move(tests));
  const MutexLock lock(mutex_);
  now_.tests = std::move(kept);
}

void Store::on_attribution(Attribution attribution) {
  auto kept = std::make_shared<const Attribution>(std::move(attribution));
  const MutexLock lock(mutex_);
  now_.attribution = std::move(kept);
  attribution_at_ = clock_.monotonic();
  drop_owners(now_, age_for(options_.processes_period));
}

Snapshot Store::snapshot() const {
  Snapshot copy;
  MonotonicTime attribution_at;
  MonotonicTime devices_at;
  MonotonicTime ports_at;
  {
    const MutexLock lock(mutex_);
    copy = now_;
    attribution_at = attribution_at_;
    devices_at = devices_at_;
    ports_at = ports_at_;
  }
  copy.taken_at = clock_.monotonic();
  copy.wall = clock_.wall();
  const Nanoseconds processes_age = age_for(options_.processes_period);
  for (GpuSnapshot& gpu : copy.gpus) mark_stale(gpu, copy.taken_at, allowed_, processes_age);
  copy.node.mark_stale(copy.taken_at, allowed_);
  drop_owners(copy, processes_age);
  if (is_overdue(attribution_at, copy.taken_at, options_.attribution_period)) {
    forget_owners(copy, attribution_at);
  }
  if (is_overdue(devices_at, copy.taken_at, options_.devices_period))
    forget_ports(copy, devices_at);
  if (is_overdue(ports_at, copy.taken_at, options_.ports_period)) forget_rdma_ports(copy, ports_at);
  return copy;
}

}  // namespace stoker::store
