#include "cluster/kubernetes/api/exec_plugin.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/json_text.h"
#include "os/command.h"

namespace stoker::kubernetes {
namespace {

// Far more than a credential: a token and two certificates.
constexpr std::size_t most_printed = 1 << 20;

// What a plugin is told (client.authentication.k8s.io, kind ExecCredential).
std::string exec_info(const Access& access) {
  JsonWriter info;
  info.begin_object().member("apiVersion", access.exec->api_version);
  info.member("kind", "ExecCredential").key("spec").begin_object().member("interactive", false);
  if (access.exec->provide_cluster_info) {
    info.key("cluster").begin_object().member("server", access.server);
    info.member("insecure-skip-tls-verify", access.tls.unverified).end_object();
  }
  info.end_object().end_object();
  return info.text();
}

std::vector<std::string> environment_of(const Access& access) {
  std::vector<std::string> all = {"KUBERNETES_EXEC_INFO=" + exec_info(access)};
  for (const auto& [name, value] : access.exec->environment) {
    all.push_back(fmt::format("{}={}", name, value));
  }
  return all;
}

Error told(const Access& access, const Error& why) {
  const auto& plugin = *access.exec;
  const auto hint = plugin.install_hint.empty() ? std::string() : "; " + plugin.install_hint;
  return Error(
      why.code(),
      fmt::format(
          "the exec plugin {} of context {}: {}; a token of its own is given by --token-file{}",
          plugin.command, access.name, why.describe(), hint));
}

}  // namespace

Result<PluginCredential> run_exec_plugin(const Access& access, std::chrono::milliseconds timeout) {
  const auto& version = access.exec->api_version;
  if (version != "client.authentication.k8s.io/v1" &&
      version != "client.authentication.k8s.io/v1beta1") {
    return fail(told(
        access, Error(ErrorCode::invalid_input,
                      fmt::format("apiVersion {} is not supported, v1 and v1beta1 are", version))));
  }
  const os::Command plugin{.program = access.exec->command,
                           .arguments = access.exec->arguments,
                           .environment = environment_of(access)};
  const auto text = os::output_of(plugin, timeout, most_printed);
  if (!text) return fail(told(access, text.error()));
  auto credential = read_exec_credential(*text, version);
  if (!credential) return fail(told(access, credential.error()));
  return credential;
}

}  // namespace stoker::kubernetes
