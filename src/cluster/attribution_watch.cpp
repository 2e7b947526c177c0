#include "cluster/attribution_watch.h"

#include <algorithm>
#include <utility>

#include "base/sleep.h"
#include "cluster/holds.h"
#include "cluster/owners.h"

namespace stoker::cluster {
namespace {

// Between two looks, however often lists are told: each GPU has a thread that tells its own.
constexpr Nanoseconds least_pause = Milliseconds(250);
// Between two questions to the kubelet, which limits them (pkg/kubelet/apis/podresources: 100 a second
// for everybody): of processes that come one after the other.
constexpr Nanoseconds least_pods_pause = Seconds(1);

std::vector<device::GpuInfo> gpus_of(const store::Snapshot& snapshot) {
  std::vector<device::GpuInfo> gpus;
  gpus.reserve(snapshot.gpus.size());
  for (const auto& gpu : snapshot.gpus) gpus.push_back(gpu.info);
  return gpus;
}

}  // namespace

void ProcessChanges::on_inventory(const std::vector<device::GpuInfo>& /*gpus*/) { wake(); }

void ProcessChanges::on_processes(const PciAddress& /*gpu*/, const Reading& /*outcome*/,
                                  const std::vector<device::ProcessInfo>& /*processes*/) {
  wake();
}

void ProcessChanges::wait(const std::stop_token& stop, Nanoseconds most) {
  mutex_.lock();
  told_.wait_for(mutex_, stop, most,
                 [this]() STOKER_TS(requires_capability(mutex_)) { return news_; });
  news_ = false;
  mutex_.unlock();
}

void ProcessChanges::wake() {
  {
    const MutexLock lock(mutex_);
    news_ = true;
  }
  told_.notify_all();
}

AttributionWatch::AttributionWatch(AttributionParts parts)
    : parts_(std::move(parts)), processes_(parts_.env) {}

AttributionWatch::~AttributionWatch() { stop(); }

void AttributionWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void AttributionWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void AttributionWatch::run(const std::stop_token& stop) {
  do {
    look(stop);
    parts_.changes.wait(stop, until_pods_are_due());
  } while (sleep_unless_stopped(stop, std::min(least_pause, parts_.period)));
}

Nanoseconds AttributionWatch::until_pods_are_due() const {
  return somebody_came_ ? std::min(least_pods_pause, parts_.period) : parts_.period;
}

void AttributionWatch::look(const std::stop_token& stop) {
  const store::Snapshot snapshot = parts_.snapshot();
  auto seen = processes_.look(snapshot);
  const MonotonicTime now = parts_.env.clock().monotonic();
  somebody_came_ = somebody_came_ || seen.anybody_new;
  if (!pods_asked_at_ || now - *pods_asked_at_ >= until_pods_are_due()) {
    auto answer = parts_.list_pods(stop);
    if (stop.stop_requested()) return;
    pods_asked_at_ = now;
    somebody_came_ = false;
    pods_.take(std::move(answer), parts_.env.clock().monotonic());
  }
  Holds holds = map_holds(pods_.resources(), gpus_of(snapshot));
  holds.at = pods_.source().at;
  Attribution told{.processes = std::move(seen.source), .pods = pods_.source()};
  told.owners = join(seen.processes, holds);
  told.holds = std::move(holds.by_uuid);
  told.unmapped = std::move(holds.unmapped);
  parts_.tell(std::move(told));
}

}  // namespace stoker::cluster
