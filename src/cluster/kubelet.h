// Cluster stage: the kubelet of this node, if it has one.
#pragma once

#include <memory>
#include <string>

#include "cluster/pod_resources.h"

namespace stoker::cluster {

// Loads libstoker_kubelet.so, and gRPC with it, when the socket's folder is there for the first time:
// the agent of a node without a kubelet, the probe and every other verb never pay for it.
class Kubelet final : public PodResourcesSource {
 public:
  // `socket` and `library` as this process sees them.
  Kubelet(std::string socket, std::string library)
      : socket_(std::move(socket)), library_(std::move(library)) {}

  // unavailable also where the library can't be loaded.
  Result<PodsAnswer> list(const std::stop_token& stop) override;

 private:
  Result<void> load();

  const std::string socket_;
  const std::string library_;
  std::unique_ptr<PodResourcesSource> source_;  // nullptr: not loaded yet
};

// The library that belongs to this program: <folder of the program>/../lib/libstoker_kubelet.so.
std::string kubelet_library();

}  // namespace stoker::cluster
