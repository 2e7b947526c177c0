// Device stage: the NVML driver of this process, real or simulated. `stoker probe` opens one, reads
// its GPUs (one thread each) and waits for Xids (one thread more). Nothing else loads the library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "device/api.h"
#include "model/pci_address.h"
#include "model/reading.h"

namespace stoker::nvml {

// What the machine knows about one process id that the driver told.
struct ProcessLook {
  enum class Presence { running, absent, unknown } presence = Presence::unknown;
  std::string name;  // as /proc/<pid>/comm says; empty where it can't be read
};
using LookUpProcess = std::function<ProcessLook(std::uint32_t pid)>;

struct DriverOptions {
  // Path of the library; empty: libnvidia-ml.so.1 where the loader finds it, then in the places
  // that distributions, driver containers and WSL use (library.cpp lists them).
  std::string library;
  // Attach no GPU but those in `only`, as far as the driver can: set it together with `only`.
  bool no_attach = false;
  // GPUs to open, by address; empty: all that the driver counts.
  std::vector<PciAddress> only;
  // Tells a process id that runs from one that does not, and its name. Empty: /proc and kill(pid, 0);
  // on a simulated driver every process is "unknown".
  LookUpProcess look_up_process;
  const Clock* clock = &system_clock();
};

// Why the driver can't be used: `state` is never starting, running, released or driver_hung.
struct DriverFailure {
  device::SourceState state = device::SourceState::failed;
  std::string text;  // what happened and what to do, for people
};

// A GPU that the driver counts and that could not be opened.
struct UnopenedGpu {
  std::uint32_t index = 0;         // NVML's index, or the place in `only`
  std::optional<PciAddress> pci;   // where known
  Reason reason = Reason::failed;  // lost, no_permission, ...
  std::string text;                // what happened and what to do, for people
};

// A GPU that can be asked for: by NVML's index, or by address where that is known (then `index` is the
// place in `only`).
struct GpuPlace {
  std::uint32_t index = 0;
  std::optional<PciAddress> pci;
};

struct XidEvent {
  PciAddress gpu;
  std::uint64_t xid = 0;
  std::uint32_t gpu_instance = device::no_instance;
  std::uint32_t compute_instance = device::no_instance;
  MonotonicTime at;
};

class Driver {
 public:
  // Loads the library, starts it and says which rows of the ABI are in use. May take seconds where
  // the driver is not kept loaded, and may never return where it hangs.
  static tl::expected<std::unique_ptr<Driver>, DriverFailure> open(const DriverOptions& options);

  // Shuts NVML down: every Gpu must be gone, and no call may be under way. 580.159.04 attaches the
  // GPUs that nobody asked for once more while it shuts down, so a process that keeps away from one,
  // or has a call that doesn't return, leaves by _exit instead. The library stays mapped for good.
  virtual ~Driver() = default;

  [[nodiscard]] virtual const device::DriverInfo& info() const = 0;

  // The GPUs that the options name; touches none of them. Call it once.
  virtual tl::expected<std::vector<GpuPlace>, UnopenedGpu> places() = 0;

  // Opens one GPU and registers for its Xids; never null. From any thread, also for several GPUs at the
  // same time and while another thread waits for Xids: a call on one GPU that doesn't return need not
  // keep the others from being opened. No Gpu may outlive the Driver.
  virtual tl::expected<std::unique_ptr<device::Gpu>, UnopenedGpu> open_gpu(
      const GpuPlace& place) = 0;

  // Waits for the next Xid of the opened GPUs, in one thread of its own: nothing when the time is
  // over. It also feeds Getter::xid_event, so that field is known only while somebody waits. An
  // error with code not_supported means that there is nothing to wait for until one more GPU is
  // open; any other error: try again after a while.
  virtual Result<std::optional<XidEvent>> wait_xid_event(Milliseconds timeout) = 0;
};

}  // namespace stoker::nvml
