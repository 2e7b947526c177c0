#include "sample/ports_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/sleep.h"
#include "os/node_devices.h"
#include "sample/good_for.h"

namespace stoker::sample {

PortsWatch::PortsWatch(PortsWatchParts parts) : parts_(std::move(parts)) {}

PortsWatch::~PortsWatch() { stop(); }

void PortsWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      auto seen = look(stop);
      if (stop.stop_requested()) return;
      parts_.tell(std::move(seen));
      // At multiples of the period since boot, when the rest of the agent is awake too.
      const Nanoseconds now = parts_.env->clock().monotonic().since_boot;
      sleep_unless_stopped(stop, parts_.period - now % parts_.period);
    }
  });
}

void PortsWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void PortsWatch::meet(const std::vector<std::string>& names, RdmaPorts& out) {
  std::size_t more = 0;
  for (const auto& name : names) {
    if (parts_.left_out.contains(name) || devices_.contains(name)) continue;
    if (devices_.size() >= most_devices) {
      ++more;
      continue;
    }
    devices_[name].reader = std::make_shared<os::RdmaPortReader>(
        *parts_.env, std::set<std::string>(), os::PortReadPace{.settings = settings_period});
  }
  if (more > 0)
    out.unread.push_back(
        fmt::format("{} more devices: not looked at, {} are the most", more, most_devices));
}

void PortsWatch::ask(const std::string& name, Device& device) {
  const auto now = [this] { return parts_.env->clock().monotonic(); };
  const bool fresh = !device.look.is_open();
  if (fresh) {
    device.asked_at = now();
    device.look.ask([env = parts_.env, reader = device.reader, name, readers = devices_.size()] {
      return reader->read(name, readers);
    });
  }
  auto answer = device.look.take(fresh ? patience(parts_.period) : Nanoseconds{0});
  if (!answer) return;
  device.last = *std::move(answer);
  device.answered_at = now();
}

void PortsWatch::add(const std::string& name, const Device& device, RdmaPorts& out) const {
  if (!device.last || out.at - device.answered_at > good_for(parts_.period)) {
    out.unread.push_back(fmt::format("{}: its driver has not answered for {}", name,
                                     format_duration(out.at - device.asked_at)));
    return;
  }
  const RdmaPorts& told = *device.last;
  std::ranges::copy(told.ports, std::back_inserter(out.ports));
  std::ranges::copy(told.unread, std::back_inserter(out.unread));
  std::ranges::copy(told.absent, std::back_inserter(out.absent));
}

RdmaPorts PortsWatch::look(const std::stop_token& stop) {
  RdmaPorts out;
  const auto names = os::list_rdma_devices(*parts_.env);
  if (names)
    meet(*names, out);
  else
    out.problem = names.error().describe();
  std::vector<std::string> all;
  for (auto& [name, device] : devices_) {
    if (!names || stop.stop_requested()) break;
    ask(name, device);
    all.push_back(name);
  }
  std::ranges::sort(all, os::natural_less);
  out.at = parts_.env->clock().monotonic();
  for (const auto& name : all) add(name, devices_.at(name), out);
  return out;
}

}  // namespace stoker::sample
