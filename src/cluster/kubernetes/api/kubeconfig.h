// Edge: kubeconfig files, read and merged as kubectl does
// (https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/), and a pod's own access.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/kubernetes/api/access.h"

namespace stoker::kubernetes {

// Which files there may be, and what was asked for.
struct KubeconfigQuestion {
  std::vector<std::string>
      files;  // the first that says a thing has it; those that are not there are passed over
  bool named = false;   // a person named the file: then it has to be there
  std::string context;  // empty: the files' own current-context
};

// `named` is --kubeconfig; else KUBECONFIG (paths with ':' between), else ~/.kube/config.
KubeconfigQuestion kubeconfig_question(const std::string& named, const std::string& context);

// The access of one context. not_found: none of the files is there. invalid_input, with what would be right, for a file
// that is none, a context, cluster or user that is named and not there, and for what is not supported: proxy-url,
// auth-provider, user and password.
Result<Access> read_kubeconfig(const KubeconfigQuestion& question);

// What a pod is given (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/): the server of
// KUBERNETES_SERVICE_HOST and _PORT, and token, ca.crt and namespace in `folder`. not_found: we are in no pod.
Result<Access> in_cluster_access(
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

// read_kubeconfig(), and where no file is there and nobody named one, in_cluster_access().
Result<Access> find_access(const KubeconfigQuestion& question);

}  // namespace stoker::kubernetes
