// Cluster stage: the only symbol of libstoker_kubelet.so, which cluster/kubelet.cpp looks up.
#include <memory>

#include "cluster/kubernetes/pod_resources_client.h"

extern "C" __attribute__((visibility("default"))) stoker::cluster::PodResourcesSource*
stoker_kubelet_source(const char* socket) {
  return std::make_unique<stoker::cluster::kubernetes::PodResourcesClient>(
             stoker::cluster::kubernetes::PodResourcesOptions{.socket = socket})
      .release();
}
