// Cluster stage: asks the kubelet which pod holds which device, over gRPC on its UNIX socket.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/pod_resources.h"
#include "cluster/socket_file.h"

namespace stoker::cluster::kubernetes {

struct PodResourcesOptions {
  std::string socket;                 // as this process sees it
  Nanoseconds deadline = Seconds(2);  // of one question
};

// A kubelet that restarts makes its socket file anew: whatever fails, the next question starts from the
// file again, so no channel stays dead.
class PodResourcesClient final : public PodResourcesSource {
 public:
  explicit PodResourcesClient(PodResourcesOptions options);
  ~PodResourcesClient() override;
  PodResourcesClient(const PodResourcesClient&) = delete;
  PodResourcesClient& operator=(const PodResourcesClient&) = delete;

  // An answer above gRPC's own limit of 4 MiB is refused, and strings are cut at 256 bytes.
  Result<PodsAnswer> list(const std::stop_token& stop) override;

 private:
  struct Channel;
  // A channel to the socket file that is there now.
  Result<void> connect();

  const PodResourcesOptions options_;
  std::unique_ptr<Channel> channel_;  // nullptr: none, or the last question failed
  std::optional<SocketFile> last_;    // that was connected to
  std::uint64_t kubelets_ = 0;        // that were
};

}  // namespace stoker::cluster::kubernetes
