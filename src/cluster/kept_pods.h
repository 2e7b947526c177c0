// Cluster stage: the kubelet's last word, and how long it counts while the kubelet is away. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

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

// A kubelet that has just started answers before it knows its pods: for a second without any (seen with
// 1.20.2), longer where it can't reach the API server, which it tries again at most 30 s later (k8s.io/
// client-go, tools/cache/reflector.go). Two tries.
inline constexpr Nanoseconds restart_settles_in = Seconds(60);

class KeptPods {
 public:
  // What came of asking. An Error not_found says that this node has no kubelet; no_permission, that it
  // may not be asked. After a restart, containers that the answers lack are kept until all of them
  // were listed again, or for restart_settles_in; what others have by now is not theirs any more.
  void take(Result<PodsAnswer> answer, MonotonicTime now);

  // Empty where nothing is known (any more).
  [[nodiscard]] const PodResources& resources() const { return resources_; }
  [[nodiscard]] const AttributionSource& source() const { return source_; }

 private:
  void keep(const Error& error, MonotonicTime now);
  // Adds to the answer what it lacks of resources_; how many containers these are.
  [[nodiscard]] std::size_t complete(PodResources& answer) const;

  PodResources resources_;
  AttributionSource source_;
  bool answered_ = false;  // the kubelet, at source_.at, and it is not given up since
  std::uint64_t kubelet_ = 0;
  std::optional<MonotonicTime> restarted_at_;  // as seen by its first answer; empty: it has settled
};

}  // namespace stoker::cluster
