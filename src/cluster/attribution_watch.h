// Cluster stage: finds out, again and again, whose work runs on the GPUs. A thread of its own: /proc and
// the kubelet may make it wait, and nothing else waits with it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/thread_safety.h"
#include "cluster/kept_pods.h"
#include "cluster/pod_resources.h"
#include "cluster/process_look.h"
#include "device/api.h"
#include "model/attribution.h"
#include "os/env.h"
#include "store/snapshot.h"

namespace stoker::cluster {

// Hears that lists of processes, or GPUs, are told anew, and wakes who waits for that. Has to hear it
// after the store, of which the watch then asks a snapshot.
class ProcessChanges final : public device::PartListener {
 public:
  void on_inventory(const std::vector<device::GpuInfo>& gpus) override;
  void on_processes(const PciAddress& gpu, const Reading& outcome,
                    const std::vector<device::ProcessInfo>& processes) override;

  // Returns when something was told since the last call, when `most` is over, or to stop.
  void wait(const std::stop_token& stop, Nanoseconds most) EXCLUDES(mutex_);

 private:
  void wake() EXCLUDES(mutex_);

  // Each is safe by itself.
  Mutex mutex_;
  CondVar told_;
  bool news_ GUARDED_BY(mutex_) = false;
};

struct AttributionParts {
  const os::Env& env;  // these outlive the watch
  ProcessChanges& changes;
  std::function<store::Snapshot()> snapshot;
  // Asks the kubelet, as KeptPods::take wants it; returns early to stop.
  std::function<Result<PodsAnswer>(const std::stop_token&)> list_pods;
  std::function<void(Attribution)> tell;  // store::Store::on_attribution
  Nanoseconds period = Seconds(10);       // of asking the kubelet
};

class AttributionWatch {
 public:
  explicit AttributionWatch(AttributionParts parts);
  ~AttributionWatch();
  AttributionWatch(const AttributionWatch&) = delete;
  AttributionWatch& operator=(const AttributionWatch&) = delete;

  // Looks at once, in the new thread; then at /proc after each new list of processes, and at the
  // kubelet's pods each period and when a process came.
  void start();
  // Returns when the look under way is done, or given up.
  void stop();

 private:
  void run(const std::stop_token& stop);
  void look(const std::stop_token& stop);
  [[nodiscard]] Nanoseconds until_pods_are_due() const;  // at the latest, from when they were asked

  // Constant after construction.
  const AttributionParts parts_;

  // The thread's own.
  ProcessLook processes_;
  KeptPods pods_;
  std::optional<MonotonicTime> pods_asked_at_;
  bool somebody_came_ = false;  // since then

  std::jthread thread_;
};

}  // namespace stoker::cluster
