// Cluster stage: the kubelet's last word, and how long it counts while the kubelet is away. Pure.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/pod_resources.h"
#include "model/attribution.h"

namespace stoker::cluster {

// The kubelet alone gives devices to pods and takes them back, so while it restarts nothing changes
// that it would have told. After five minutes without it the cluster gives the node's pods up
// (tolerationSeconds 300 of node.kubernetes.io/unreachable and not-ready, which every pod gets:
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/), and holds of pods
// that may be gone are no longer told.
inline constexpr Nanoseconds holds_kept_for = Seconds(300);

class KeptPods {
 public:
  // What came of asking. An Error not_found says that this node has no kubelet; no_permission, that it
  // may not be asked.
  void take(Result<PodResources> answer, MonotonicTime now);

  // Empty where nothing is known (any more).
  [[nodiscard]] const PodResources& resources() const { return resources_; }
  [[nodiscard]] const AttributionSource& source() const { return source_; }

 private:
  void keep(const Error& error, MonotonicTime now);

  PodResources resources_;
  AttributionSource source_;
  bool answered_ = false;  // the kubelet, at source_.at, and it is not given up since
};

}  // namespace stoker::cluster
