// Store stage: takes what sources tell, from any thread, and gives out Snapshots.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/thread_safety.h"
#include "catalog/field.h"
#include "device/api.h"
#include "store/snapshot.h"

namespace stoker::store {

struct StoreOptions {
  std::string hostname;
  std::string simulated_profile;  // of Snapshot
  // How often a field of each CostClass is read, and the list of processes: device/probe/rates.h,
  // its scale applied; these are its defaults. 0: read once, never stale.
  std::array<Nanoseconds, cost_class_count> periods = {Seconds(1),  Seconds(15),  Seconds(2),
                                                       Seconds(60), Seconds(300), Seconds(0)};
  Nanoseconds processes_period = Seconds(5);
  // How often it is looked whose processes run, and where cards hang. A look that hangs is then told, and what it found
  // before is not for ever. 0: never stale (a recording has them once).
  Nanoseconds attribution_period{0};
  Nanoseconds devices_period{0};
  Nanoseconds ports_period{0};
};

// What is kept is bounded, whatever a driver or a broken probe tells; the rest is dropped and counted.
struct StoreLimits {
  static constexpr std::size_t gpus = 64;
  static constexpr std::size_t abi_notes = 64;
  static constexpr std::size_t migs_per_gpu = 64;
  static constexpr std::size_t nvlinks_per_gpu = 64;
  static constexpr std::size_t processes_per_gpu = 1024;
  static constexpr std::size_t xids_per_gpu = 256;  // different numbers
  static constexpr std::size_t text_bytes = 512;    // of each string
};

// Rules:
// - A value is told as current until it is older than three periods of its cost class and than five
//   seconds; then it is stale. Where it came less often before (sample/schedule.h reads a getter that
//   has become dear in the next slower period), three of that time count, up to three periods of the
//   next slower class.
// - A GPU that was told once stays, with its identity. Missing from a later inventory, or told lost,
//   it is `lost` and has no values; told again, it is present and its readings are pending.
// - A hung GPU has no values until on_gpu_state(present) says that it answers again (an inventory
//   without it, from a probe that leaves it alone, changes nothing).
// - While the source tells neither `starting` nor `running`, no GPU has values: released -> stale,
//   library, driver or version -> driver_gone, permission -> no_permission, driver_hung -> hung,
//   failed -> failed. Readings that still arrive then are dropped.
// - A process's owner is told as long as a list of processes has its pid, and was not looked up long
//   before that list: a pid that left the lists, once, has no owner until one is told anew.
// - Xid counts only rise.
class Store final : public device::Listener {
 public:
  Store(const Clock& clock, StoreOptions options);

  void on_status(const device::SourceStatus& status) override EXCLUDES(mutex_);
  void on_driver(const device::DriverInfo& driver) override EXCLUDES(mutex_);
  void on_inventory(const std::vector<device::GpuInfo>& gpus) override EXCLUDES(mutex_);
  void on_readings(const PciAddress& gpu,
                   const std::vector<device::TargetReading>& readings) override EXCLUDES(mutex_);
  void on_processes(const PciAddress& gpu, const Reading& outcome,
                    const std::vector<device::ProcessInfo>& processes) override EXCLUDES(mutex_);
  void on_gpu_state(const PciAddress& gpu, device::GpuState state,
                    const std::string& detail) override EXCLUDES(mutex_);
  void on_costs(const PciAddress& gpu, const std::vector<device::CallCost>& costs) override
      EXCLUDES(mutex_);
  void on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) override EXCLUDES(mutex_);

  // The node's own readings, from sample/node_sampler.
  void on_node_readings(const std::vector<std::pair<FieldId, Reading>>& readings) EXCLUDES(mutex_);
  void on_node_costs(const std::vector<device::CallCost>& costs) EXCLUDES(mutex_);
  // From sample/devices_watch; os/node_devices.h bounds them.
  void on_node_devices(NodeDevices devices) EXCLUDES(mutex_);
  // From sample/ports_watch; os/rdma_ports.h bounds them.
  void on_rdma_ports(RdmaPorts ports) EXCLUDES(mutex_);
  // From cluster/attribution_watch, which bounds it.
  void on_attribution(Attribution attribution) EXCLUDES(mutex_);
  // As the schedule of tests is, until it is told anew; its thread tells it every ten seconds at least.
  void on_tests(TestSchedule tests) EXCLUDES(mutex_);

  // A copy of everything as of now, with what is too old marked stale. Never waits for hardware.
  [[nodiscard]] Snapshot snapshot() const EXCLUDES(mutex_);

 private:
  // Constant after construction.
  const Clock& clock_;
  const StoreOptions options_;
  const std::vector<AllowedAge> allowed_;  // by field

  mutable Mutex mutex_;
  Snapshot now_ GUARDED_BY(mutex_);  // without staleness
  MonotonicTime attribution_at_ GUARDED_BY(mutex_);
  MonotonicTime devices_at_ GUARDED_BY(mutex_);
  MonotonicTime ports_at_ GUARDED_BY(mutex_);
};

}  // namespace stoker::store
