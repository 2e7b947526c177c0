// Edge: credentials from a program, as client-go has it
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
#pragma once

#include <chrono>

#include "base/result.h"
#include "cluster/kubernetes/api/access.h"
#include "cluster/kubernetes/api/documents.h"

namespace stoker::kubernetes {

// Runs the plugin of `access` without a terminal; what it says on standard error is shown. It and what it started are
// killed after `timeout`. Errors say what to do: not_found with the file's own hint where the program is not there,
// timeout, unavailable for one that fails, corrupt for one that prints something else.
Result<PluginCredential> run_exec_plugin(const Access& access, std::chrono::milliseconds timeout);

}  // namespace stoker::kubernetes
