// Edge: where an apiserver is, how it is known, and who we are to it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/http_client.h"

namespace stoker::kubernetes {

// A program that gives credentials (users[].user.exec of a kubeconfig).
struct ExecPlugin {
  std::string api_version;  // client.authentication.k8s.io/...
  std::string command;      // a path where it has a '/'; else a name, looked for in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  bool provide_cluster_info = false;
};

// Of the ways to say who we are, at most one of token, token_file and exec is set; a certificate is in `tls`.
struct Access {
  std::string name;    // of the context, for people; "in-cluster" in a pod
  std::string server;  // URL without a '/' at its end
  net::ClientTls tls;
  std::string token;
  std::string token_file;  // read again for every request: a pod's token is renewed hourly
  std::optional<ExecPlugin> exec;
  std::string as_user;  // whom to impersonate
  std::vector<std::string> as_groups;
  std::string name_space;  // of the context; empty: it names none
};

}  // namespace stoker::kubernetes
