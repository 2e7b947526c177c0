// Sample stage, agent side: looks again and again at the ports of the node's RDMA cards (os/rdma_ports.h). A thread of its
// own, since each state and counter is a call of the card's driver, which waits for its firmware: for a minute a command
// where that is sick, or for good. What was seen last then grows old, and the store says at which device.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <thread>

#include "base/clock.h"
#include "os/env.h"
#include "os/rdma_ports.h"

namespace stoker::sample {

struct PortsWatchParts {
  const os::Env& env;  // must outlive the watch
  std::set<std::string> left_out;
  Nanoseconds period = Seconds(15);
  // store::Store::on_rdma_ports and on_rdma_device. Called from the thread of the watch.
  std::function<void(RdmaPorts)> tell;
  std::function<void(const std::string& device)> tell_device;
};

class PortsWatch {
 public:
  // GIDs, MTUs and the like: what people change, 256 files a port. Rules about them hold for twice as long
  // (fabric/port_rules.def).
  static constexpr Nanoseconds settings_period = Seconds(300);

  explicit PortsWatch(PortsWatchParts parts);
  ~PortsWatch();
  PortsWatch(const PortsWatch&) = delete;
  PortsWatch& operator=(const PortsWatch&) = delete;

  // Looks at once, in the new thread, and then each period.
  void start();
  // Returns when the look under way is done.
  void stop();

 private:
  // Constant after construction.
  const PortsWatchParts parts_;

  // Of the thread.
  os::RdmaPortReader reader_;

  std::jthread thread_;
};

}  // namespace stoker::sample
