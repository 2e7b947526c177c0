// Device stage, probe side: the process that holds the driver. One thread starts the driver and then
// waits for Xids, as many threads as there are GPUs take turns at sampling them (turns.h), and one, which never calls
// the driver, answers the agent. It may hang or die at any moment; the agent's side of that is probe_lifecycle.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "device/api.h"
#include "device/call_slot.h"
#include "device/nvml/driver.h"
#include "device/probe/rates.h"

namespace stoker::device::probe {

// What one round of one GPU gave; kept with the GPU and filled anew each time.
struct Round {
  std::vector<TargetReading> readings;
  std::optional<Reading> process_outcome;  // set when the processes were listed
  std::vector<ProcessInfo> processes;
  std::vector<CallCost> costs;  // not empty when it is time to tell them
  bool info_changed = false;
  MonotonicTime next;  // when the next round is due

  // Empty again, with its memory kept.
  void clear();
};

// Samples one GPU, in one thread at a time. Implemented by sample/gpu_sampler, which the device stage
// can't see; apps/stoker/verb_probe.cpp puts the two together.
class Sampler {
 public:
  virtual ~Sampler() = default;
  // Makes the calls that are due now. Each is announced in the CallSlot given at construction.
  virtual void round(Round& round) = 0;
};

struct SamplerParts {
  Gpu& gpu;
  const SampleRates& rates;
  CallSlot& slot;
};

struct ChildParts {
  std::function<tl::expected<std::unique_ptr<nvml::Driver>, nvml::DriverFailure>(
      const nvml::DriverOptions&)>
      open_driver;
  std::function<std::unique_ptr<Sampler>(const SamplerParts&)> make_sampler;
};

// Serves the agent at the other end of `fd` until it says so or goes away; then leaves by _exit,
// since a thread that is stuck in the driver can't be joined. Must be called once, in the main
// thread of a process made for it. Exit status: 0 told to leave or agent gone; 2 not a probe's socket.
[[noreturn]] void run_child(int fd, const ChildParts& parts);

}  // namespace stoker::device::probe
