// Sample stage, agent side: looks again and again where GPUs and NICs hang (os/node_devices.h). A thread
// of its own, since asking a port for its state is a call of its driver, which may never return; what was
// seen last is kept then. What does not return is left behind (asked.h).
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "os/env.h"
#include "os/node_devices.h"
#include "sample/asked.h"

namespace stoker::sample {

class DevicesWatch {
 public:
  // store::Store::on_node_devices. Called from the thread of this.
  using Tell = std::function<void(NodeDevices)>;

  // Cards come and go by hand, ports by cable: a minute is soon enough for a drawing and a count.
  static constexpr Nanoseconds default_period = Seconds(60);

  DevicesWatch(std::shared_ptr<const os::Env> env, Tell tell, Nanoseconds period = default_period);
  ~DevicesWatch();
  DevicesWatch(const DevicesWatch&) = delete;
  DevicesWatch& operator=(const DevicesWatch&) = delete;

  // Looks at once, in the new thread, and then each period.
  void start();
  // Returns when the look under way is done, or hangs.
  void stop();

 private:
  // Constant after construction.
  const std::shared_ptr<const os::Env> env_;
  const Tell tell_;
  const Nanoseconds period_;

  // Of the thread.
  Asked<NodeDevices> look_;

  std::jthread thread_;
};

}  // namespace stoker::sample
