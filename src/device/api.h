// Device stage: what a source of GPU readings offers to the rest, whether it is a probe process on
// real cards, one on simulated cards, or a recording played back.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "catalog/field.h"
#include "model/pci_address.h"
#include "model/reading.h"

namespace stoker::device {

// What the driver says about itself once.
struct DriverInfo {
  std::string driver_version;  // "580.159.04"
  std::string nvml_version;    // "13.580.159.04"
  int cuda_version = 0;        // 13000
  bool simulated = false;      // the library says that it is Stoker's simulated driver
  // ABI rows in use and what was derived (a stride, a fallback), for `stoker status -v`.
  std::vector<std::string> abi_notes;
};

// One MIG device: a compute instance of a GPU instance.
struct MigInfo {
  std::string uuid;
  std::string profile;  // "1g.10gb"
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t multiprocessors = 0;
};

// What stands at the other end of an NVLink.
enum class LinkEnd : std::uint8_t { unknown, gpu, nvswitch, other };

struct NvLinkInfo {
  std::uint32_t link = 0;
  std::uint32_t version = 0;
  std::string remote_pci;  // sysfs spelling; empty where the driver hides it (NVSwitch in a VM)
  LinkEnd remote = LinkEnd::unknown;
};

// What does not change while a GPU stays open. Limits are the card's own; 0 or empty: not told.
struct GpuInfo {
  std::uint32_t index = 0;  // NVML's index when it was opened
  PciAddress pci;
  std::string uuid;
  std::string name;
  std::string serial;
  std::string brand;
  std::string vbios;
  std::string board_part;
  std::string inforom;
  std::string architecture;    // "hopper"
  int compute_capability = 0;  // 90 for 9.0
  std::uint32_t minor = 0;     // /dev/nvidia<minor>
  int numa_node = -1;
  int memory_node = -1;  // the NUMA node that its memory is (Grace); -1: it is none
  std::uint32_t cores = 0;
  std::uint64_t memory_bytes = 0;
  int slowdown_celsius = 0;
  int shutdown_celsius = 0;
  int max_memory_celsius = 0;
  int max_operating_celsius = 0;
  double power_limit_min_watts = 0;
  double power_limit_max_watts = 0;
  double power_limit_default_watts = 0;
  std::uint32_t max_sm_clock_mhz = 0;
  std::uint32_t max_memory_clock_mhz = 0;
  std::uint32_t max_pcie_generation = 0;
  std::uint32_t max_pcie_width = 0;
  bool gpm = false;  // rates by GPM (Hopper and later)
  bool mig_enabled = false;
  std::vector<MigInfo> migs;
  std::vector<NvLinkInfo> nvlinks;
};

// Of a process that is in no MIG instance, as NVML tells it (nvml.h, nvmlProcessInfo_t).
inline constexpr std::uint32_t no_instance = 0xffffffff;

struct ProcessInfo {
  std::uint32_t pid = 0;
  bool compute = true;  // false: graphics
  bool memory_known = false;
  std::uint64_t memory_bytes = 0;
  std::uint32_t gpu_instance = no_instance;
  std::uint32_t compute_instance = no_instance;
  std::string name;  // as /proc/<pid>/comm says; empty where it can't be read
};

// What one reading is about, inside one GPU.
struct Target {
  EntityKind kind = EntityKind::gpu;  // gpu, mig or nvlink
  std::uint32_t number = 0;           // index into GpuInfo::migs, or the link number
  friend auto operator<=>(const Target&, const Target&) = default;
};

struct TargetReading {
  Target target;
  FieldId field;
  Reading reading;
};

// What one call cost lately, for `stoker fields` and stoker_call_seconds.
struct CallCost {
  Getter getter;
  std::uint64_t calls = 0;
  Nanoseconds total{0};
  Nanoseconds longest{0};
  Nanoseconds last{0};
};

enum class GpuState : std::uint8_t { present, lost, hung };
const char* to_string(GpuState state);

// Is the source as a whole telling? Anything but `starting` and `running` makes every reading of it
// unknown; while it is starting, what was told before it grows old as usual.
enum class SourceState : std::uint8_t {
  starting,
  running,
  released,          // asked to let go of every handle (reset, MIG change, driver update)
  library_missing,   // no libnvidia-ml.so.1
  driver_missing,    // library there, driver not loaded (NVML error 9) or no device node
  version_mismatch,  // library and kernel module differ (NVML error 18)
  no_permission,
  driver_hung,  // two probes in a row stalled: the whole driver
  failed,       // anything else; `detail` says what
};
const char* to_string(SourceState state);

struct SourceStatus {
  SourceState state = SourceState::starting;
  std::string detail;  // what happened and what to do, for people
  int probe_pid = 0;
  int stuck_probes = 0;    // processes that would not die: stoker_probe_stuck
  int unopened_gpus = 0;   // the driver counts them, and they can't be opened; `detail` says why
  int forbidden_gpus = 0;  // of unopened_gpus, those that the driver refuses to this user
  std::uint64_t restarts = 0;
  MonotonicTime since;
};

// Receives everything that a source tells. Called from the source's own threads, one call at a time.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_status(const SourceStatus& status) = 0;
  virtual void on_driver(const DriverInfo& driver) = 0;
  // The GPUs that are there now. One that was there and is not in the list is lost.
  virtual void on_inventory(const std::vector<GpuInfo>& gpus) = 0;
  virtual void on_readings(const PciAddress& gpu, const std::vector<TargetReading>& readings) = 0;
  virtual void on_processes(const PciAddress& gpu, const Reading& outcome,
                            const std::vector<ProcessInfo>& processes) = 0;
  virtual void on_gpu_state(const PciAddress& gpu, GpuState state, const std::string& detail) = 0;
  virtual void on_costs(const PciAddress& gpu, const std::vector<CallCost>& costs) = 0;
  // One new Xid of one GPU: told once for each event, also when the number is that of the last one
  // (the field last_xid alone can't tell two equal Xids apart).
  virtual void on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) = 0;
};

// Hears nothing but what a class that builds on it says: for those that want a part.
class PartListener : public Listener {
 public:
  void on_status(const SourceStatus& /*status*/) override {}
  void on_driver(const DriverInfo& /*driver*/) override {}
  void on_inventory(const std::vector<GpuInfo>& /*gpus*/) override {}
  void on_readings(const PciAddress& /*gpu*/,
                   const std::vector<TargetReading>& /*readings*/) override {}
  void on_processes(const PciAddress& /*gpu*/, const Reading& /*outcome*/,
                    const std::vector<ProcessInfo>& /*processes*/) override {}
  void on_gpu_state(const PciAddress& /*gpu*/, GpuState /*state*/,
                    const std::string& /*detail*/) override {}
  void on_costs(const PciAddress& /*gpu*/, const std::vector<CallCost>& /*costs*/) override {}
  void on_xid(const PciAddress& /*gpu*/, std::uint32_t /*xid*/, MonotonicTime /*at*/) override {}
};

// A source of readings. start() returns at once; stop() returns when nothing more will be told.
class Source {
 public:
  virtual ~Source() = default;
  virtual void start(Listener& listener) = 0;
  virtual void stop() = 0;
  // Lets go of every driver handle (before a reset, a MIG change or a driver unload) and tells
  // SourceState::released; resume() starts again. Both may be called from any thread.
  virtual void release() = 0;
  virtual void resume() = 0;
};

// One open GPU inside the process that holds the driver: what the sampler calls. One thread only.
class Gpu {
 public:
  virtual ~Gpu() = default;
  [[nodiscard]] virtual const GpuInfo& info() const = 0;
  // Makes the driver call(s) of `getter` for `fields` (rows of that getter; those of one cost class
  // at a time) and appends one reading for each field and target, valid or with its reason.
  virtual void read(Getter getter, const std::vector<const Field*>& fields,
                    std::vector<TargetReading>& out) = 0;
  // Lists the processes on this GPU; the reading carries the count or the reason.
  virtual Reading processes(std::vector<ProcessInfo>& out) = 0;
  // Reads again what may change while open (MIG devices); true if info() differs now.
  virtual bool refresh() = 0;
};

}  // namespace stoker::device
