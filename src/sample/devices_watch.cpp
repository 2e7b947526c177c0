#include "sample/devices_watch.h"

#include "base/sleep.h"

namespace stoker::sample {

DevicesWatch::DevicesWatch(const os::Env& env, Tell tell, Nanoseconds period)
    : env_(env), tell_(std::move(tell)), period_(period) {}

DevicesWatch::~DevicesWatch() { stop(); }

void DevicesWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      tell_(os::read_node_devices(env_));
      sleep_unless_stopped(stop, period_);
    }
  });
}

void DevicesWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace stoker::sample
