#include "sample/ports_watch.h"

#include <utility>

#include "base/sleep.h"

namespace stoker::sample {

PortsWatch::PortsWatch(PortsWatchParts parts)
    : parts_(std::move(parts)),
      reader_(parts_.env, parts_.left_out,
              {.settings = settings_period, .on_device = parts_.tell_device}) {}

PortsWatch::~PortsWatch() { stop(); }

void PortsWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      parts_.tell(reader_.read());
      // At multiples of the period since boot, when the rest of the agent is awake too.
      const Nanoseconds now = parts_.env.clock().monotonic().since_boot;
      sleep_unless_stopped(stop, parts_.period - now % parts_.period);
    }
  });
}

void PortsWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace stoker::sample
