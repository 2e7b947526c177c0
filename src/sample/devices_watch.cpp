#include "sample/devices_watch.h"

#include <utility>

#include "base/sleep.h"

namespace stoker::sample {
namespace {

// Files of sysfs take milliseconds; who stops the watch waits as long.
constexpr Nanoseconds look_patience = Seconds(2);

}  // namespace

DevicesWatch::DevicesWatch(std::shared_ptr<const os::Env> env, Tell tell, Nanoseconds period)
    : env_(std::move(env)), tell_(std::move(tell)), period_(period) {}

DevicesWatch::~DevicesWatch() { stop(); }

void DevicesWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const bool fresh = !look_.is_open();
      if (fresh) look_.ask([env = env_] { return os::read_node_devices(*env); });
      if (auto seen = look_.take(fresh ? look_patience : Nanoseconds{0})) tell_(*std::move(seen));
      sleep_unless_stopped(stop, period_);
    }
  });
}

void DevicesWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace stoker::sample
