#include "cluster/kubernetes/api/kubeconfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/base64.h"
#include "base/closest.h"
#include "base/text.h"
#include "catalog/yaml/yaml.h"

namespace stoker::kubernetes {
namespace {

using yaml::child_of;
using yaml::Node;

struct File {
  std::string path;
  Node root;
};

// A named entry of clusters, users or contexts, with the file in which it stands.
struct Named {
  const File* file = nullptr;
  const Node* entry = nullptr;  // what stands behind `cluster:`, `user:` or `context:`
};

std::string variable_of(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets any
  return value == nullptr ? "" : value;
}

std::string text_of(const Node* map, std::string_view key) {
  const Node* node = map == nullptr ? nullptr : child_of(*map, key);
  return node == nullptr || node->kind != Node::Kind::scalar ? "" : node->text;
}

std::vector<std::string> texts_of(const Node* map, std::string_view key) {
  std::vector<std::string> texts;
  const Node* list = map == nullptr ? nullptr : child_of(*map, key);
  if (list == nullptr) return texts;
  for (const Node& item : list->items) texts.push_back(item.text);
  return texts;
}

Error wrong(const File& file, const Node& at, std::string_view message) {
  return Error(ErrorCode::invalid_input,
               fmt::format("{}:{}:{}: {}", file.path, at.place.line, at.place.column, message));
}

// The entry `name` of the list `list`, by the first file that has it: nothing of it comes from another.
Named find_named(const std::vector<File>& files, std::string_view list, std::string_view what,
                 std::string_view name) {
  for (const File& file : files) {
    const Node* entries = child_of(file.root, list);
    if (entries == nullptr) continue;
    for (const Node& entry : entries->items) {
      if (text_of(&entry, "name") != name) continue;
      return {&file, child_of(entry, what)};
    }
  }
  return {};
}

Error missing(const std::vector<File>& files, std::string_view list, std::string_view what,
              std::string_view name) {
  std::vector<std::string> names;
  for (const File& file : files) {
    const Node* entries = child_of(file.root, list);
    if (entries == nullptr) continue;
    for (const Node& entry : entries->items) names.push_back(text_of(&entry, "name"));
  }
  auto hint = did_you_mean(name, names);
  if (hint.empty() && !names.empty()) hint = fmt::format("there is {}", fmt::join(names, ", "));
  return Error(ErrorCode::invalid_input, fmt::format("{}: no {} '{}'{}{}", files.front().path, what,
                                                     name, hint.empty() ? "" : "; ", hint));
}

// A path of a kubeconfig is relative to the file's own folder.
std::string path_beside(const File& file, const std::string& path) {
  const std::filesystem::path given(path);
  if (path.empty() || given.is_absolute()) return path;
  return (std::filesystem::path(file.path).parent_path() / given).string();
}

// `key`-data in base64, or the file that `key` names; empty: neither is there.
Result<std::string> blob_of(const Named& named, const std::string& key) {
  const std::string data = key + "-data";
  if (const auto coded = text_of(named.entry, data); !coded.empty()) {
    auto text = base64_decode(coded);
    if (!text)
      return fail(wrong(*named.file, *child_of(*named.entry, data), data + " is no base64"));
    return *std::move(text);
  }
  const auto path = text_of(named.entry, key);
  if (path.empty()) return std::string();
  auto text = yaml::read_text(path_beside(*named.file, path));
  if (!text)
    return fail(Error(ErrorCode::invalid_input, fmt::format("{}: {}", named.file->path, key))
                    .caused_by(text.error()));
  return text;
}

Result<void> take_cluster(const Named& cluster, Access& access) {
  const File& file = *cluster.file;
  access.server = text_of(cluster.entry, "server");
  while (access.server.ends_with('/')) access.server.pop_back();
  if (const auto problem = net::url_problem(access.server)) {
    return fail(wrong(file, *cluster.entry, "server: " + *problem));
  }
  if (const Node* proxy = child_of(*cluster.entry, "proxy-url");
      proxy != nullptr && !proxy->empty()) {
    return fail(
        wrong(file, *proxy,
              "a proxy is not supported; run this where the server is reached without one, or "
              "through `kubectl proxy`, as a context whose server is http://127.0.0.1:8001"));
  }
  access.tls.unverified = text_of(cluster.entry, "insecure-skip-tls-verify") == "true";
  access.tls.server_name = text_of(cluster.entry, "tls-server-name");
  auto authorities = blob_of(cluster, "certificate-authority");
  if (!authorities) return fail(authorities.error());
  access.tls.authorities = *std::move(authorities);
  return {};
}

ExecPlugin plugin_of(const File& file, const Node& exec) {
  ExecPlugin plugin;
  plugin.api_version = text_of(&exec, "apiVersion");
  plugin.command = text_of(&exec, "command");
  // Only what looks like a path is one (client-go, exec plugin configuration).
  if (plugin.command.find('/') != std::string::npos)
    plugin.command = path_beside(file, plugin.command);
  plugin.arguments = texts_of(&exec, "args");
  plugin.install_hint = text_of(&exec, "installHint");
  plugin.provide_cluster_info = text_of(&exec, "provideClusterInfo") == "true";
  if (const Node* environment = child_of(exec, "env"); environment != nullptr) {
    for (const Node& each : environment->items)
      plugin.environment.emplace_back(text_of(&each, "name"), text_of(&each, "value"));
  }
  return plugin;
}

Result<void> take_user(const Named& user, Access& access) {
  if (user.entry == nullptr || user.entry->empty()) return {};
  const File& file = *user.file;
  for (const auto* gone : {"auth-provider", "username", "password"}) {
    const Node* node = child_of(*user.entry, gone);
    if (node == nullptr || node->empty()) continue;
    return fail(
        wrong(file, *node,
              fmt::format("{} is not supported, nor by Kubernetes any more; use a token (`kubectl "
                          "create token`), a certificate or an exec plugin",
                          gone)));
  }
  auto certificate = blob_of(user, "client-certificate");
  if (!certificate) return fail(certificate.error());
  auto key = blob_of(user, "client-key");
  if (!key) return fail(key.error());
  if (certificate->empty() != key->empty()) {
    return fail(
        wrong(file, *user.entry, "a client-certificate needs its client-key, and no other key"));
  }
  access.tls.certificate = *std::move(certificate);
  access.tls.key = *std::move(key);
  access.as_user = text_of(user.entry, "as");
  access.as_groups = texts_of(user.entry, "as-groups");
  // As client-go: a token file goes before a token, and both before a plugin.
  access.token_file = path_beside(file, text_of(user.entry, "tokenFile"));
  if (access.token_file.empty()) access.token = text_of(user.entry, "token");
  const Node* exec = child_of(*user.entry, "exec");
  if (exec == nullptr || exec->empty() || !access.token.empty() || !access.token_file.empty())
    return {};
  access.exec = plugin_of(file, *exec);
  if (access.exec->command.empty()) return fail(wrong(file, *exec, "exec without a command"));
  return {};
}

Result<std::vector<File>> read_files(const KubeconfigQuestion& question) {
  std::vector<File> files;
  for (const auto& path : question.files) {
    auto text = yaml::read_text(path);
    if (!text && text.error().code() == ErrorCode::not_found && !question.named) continue;
    if (!text) return fail(text.error());
    auto root = yaml::parse(*text, path);
    if (!root) return fail(root.error());
    files.push_back({path, *std::move(root)});
  }
  if (files.empty()) {
    return fail(
        ErrorCode::not_found,
        fmt::format("there is no kubeconfig: {} {} not there; name one by --kubeconfig",
                    fmt::join(question.files, ", "), question.files.size() == 1 ? "is" : "are"));
  }
  return files;
}

std::string context_name(const std::vector<File>& files, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  for (const File& file : files) {
    if (auto name = text_of(&file.root, "current-context"); !name.empty()) return name;
  }
  return {};
}

}  // namespace

KubeconfigQuestion kubeconfig_question(const std::string& named, const std::string& context) {
  KubeconfigQuestion question;
  question.context = context;
  question.named = !named.empty();
  if (question.named) {
    question.files = {named};
    return question;
  }
  const std::string list = variable_of("KUBECONFIG");
  for (std::string_view rest = list; !rest.empty();) {
    const auto end = std::min(rest.find(':'), rest.size());
    if (end > 0) question.files.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (question.files.empty()) question.files = {variable_of("HOME") + "/.kube/config"};
  return question;
}

Result<Access> read_kubeconfig(const KubeconfigQuestion& question) {
  const auto files = read_files(question);
  if (!files) return fail(files.error());
  Access access;
  access.name = context_name(*files, question.context);
  if (access.name.empty()) {
    return fail(
        ErrorCode::invalid_input,
        fmt::format("{}: no current-context; say which by --context, or set it by `kubectl config "
                    "use-context NAME`",
                    files->front().path));
  }
  const Named context = find_named(*files, "contexts", "context", access.name);
  if (context.entry == nullptr) return fail(missing(*files, "contexts", "context", access.name));
  access.name_space = text_of(context.entry, "namespace");
  const auto cluster_name = text_of(context.entry, "cluster");
  const Named cluster = find_named(*files, "clusters", "cluster", cluster_name);
  if (cluster.entry == nullptr) return fail(missing(*files, "clusters", "cluster", cluster_name));
  if (const auto taken = take_cluster(cluster, access); !taken) return fail(taken.error());
  const auto user_name = text_of(context.entry, "user");
  if (user_name.empty()) return access;
  const Named user = find_named(*files, "users", "user", user_name);
  if (user.file == nullptr) return fail(missing(*files, "users", "user", user_name));
  if (const auto taken = take_user(user, access); !taken) return fail(taken.error());
  return access;
}

Result<Access> in_cluster_access(const std::string& folder) {
  const auto host = variable_of("KUBERNETES_SERVICE_HOST");
  const auto port = variable_of("KUBERNETES_SERVICE_PORT");
  Access access;
  access.name = "in-cluster";
  access.token_file = folder + "/token";
  std::error_code error;
  if (host.empty() || port.empty() || !std::filesystem::exists(access.token_file, error)) {
    return fail(ErrorCode::not_found, "this is no pod of a cluster that has a service account");
  }
  const bool six = host.find(':') != std::string::npos;
  access.server = fmt::format("https://{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port);
  auto authorities = yaml::read_text(folder + "/ca.crt");
  if (!authorities) return fail(authorities.error());
  access.tls.authorities = *std::move(authorities);
  const auto name_space = yaml::read_text(folder + "/namespace");
  if (name_space) access.name_space = trimmed(*name_space, " \t\r\n");
  return access;
}

Result<Access> find_access(const KubeconfigQuestion& question) {
  auto access = read_kubeconfig(question);
  if (access || access.error().code() != ErrorCode::not_found || question.named) return access;
  auto own = in_cluster_access();
  if (own || own.error().code() != ErrorCode::not_found) return own;
  return fail(access.error());
}

}  // namespace stoker::kubernetes
