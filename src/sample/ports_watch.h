// Sample stage, agent side: looks again and again at the ports of the node's RDMA cards (os/rdma_ports.h). Each state and
// counter is a call of the card's driver, which waits for its firmware: for a minute a command where that is sick, or for good.
// So each device is a question of its own (asked.h): one that does not answer is left to its thread, and the others are told.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "os/env.h"
#include "os/rdma_ports.h"
#include "sample/asked.h"

namespace stoker::sample {

struct PortsWatchParts {
  std::shared_ptr<const os::Env> env;
  std::set<std::string> left_out;
  Nanoseconds period = Seconds(15);
  // store::Store::on_rdma_ports. Called from the thread of the watch.
  std::function<void(RdmaPorts)> tell;
};

class PortsWatch {
 public:
  // GIDs, MTUs and the like: what people change, 256 files a port. Rules about them hold for twice as long
  // (fabric/port_rules.def).
  static constexpr Nanoseconds settings_period = Seconds(300);
  // That is waited for one device: a healthy one takes milliseconds. Our choice.
  static Nanoseconds patience(Nanoseconds period) {
    return std::max<Nanoseconds>(period / 8, Milliseconds(500));
  }
  static constexpr std::size_t most_devices = 256;

  explicit PortsWatch(PortsWatchParts parts);
  ~PortsWatch();
  PortsWatch(const PortsWatch&) = delete;
  PortsWatch& operator=(const PortsWatch&) = delete;

  // Looks at once, in the new thread, and then each period.
  void start();
  // Returns within the patience for one device, whatever hangs.
  void stop();

 private:
  struct Device {
    std::shared_ptr<os::RdmaPortReader> reader;  // of the open question, if there is one
    Asked<RdmaPorts> look;
    MonotonicTime asked_at;
    std::optional<RdmaPorts> last;
    MonotonicTime answered_at;
  };

  // What all devices tell, in the time that there is for them; those that did not answer are `unread`.
  RdmaPorts look(const std::stop_token& stop);
  void meet(const std::vector<std::string>& names, RdmaPorts& out);
  void ask(const std::string& name, Device& device);
  void add(const std::string& name, const Device& device, RdmaPorts& out) const;

  // Constant after construction.
  const PortsWatchParts parts_;

  // Of the thread. All that were ever there, for who is gone is told too.
  std::map<std::string, Device> devices_;

  std::jthread thread_;
};

}  // namespace stoker::sample
