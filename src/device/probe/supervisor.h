// Device stage, agent side: starts `stoker probe`, listens to it, and never waits for the driver.
// What happens when a call does not return is decided by probe_lifecycle.h; this is its shell of
// processes, sockets and one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/api.h"
#include "device/probe/rates.h"
#include "device/probe/timing.h"

namespace stoker::device::probe {

struct SupervisorOptions {
  std::string program = "/proc/self/exe";  // started as `program probe --fd N`
  std::vector<std::string> arguments = {"probe"};
  std::vector<std::string> environment;  // "NAME=value", on top of the agent's own
  std::string library;                   // libnvidia-ml.so.1; empty: where the loader finds it
  // A file or folder that is another one after the driver was loaded anew. A simulated node names
  // a file under its root; empty: nothing tells of a reload.
  std::string driver_marker = "/sys/module/nvidia";
  SampleRates rates;
  Timing timing;
};

// start() once; the Listener must outlive stop(). Several in one process know nothing of one another. release() and resume()
// may be called from any thread; `released` is told when no process of ours holds the driver.
class Supervisor final : public Source {
 public:
  explicit Supervisor(SupervisorOptions options, const Clock& clock = system_clock());
  ~Supervisor() override;
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void start(Listener& listener) override;
  void stop() override;
  void release() override;
  void resume() override;

 private:
  class Shell;
  std::unique_ptr<Shell> shell_;
};

}  // namespace stoker::device::probe
