#include "cluster/kubernetes/api/kubeconfig.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stoker::kubernetes {
namespace {

using testing::HasSubstr;

class Kubeconfig : public testing::Test {
 protected:
  Kubeconfig() { std::filesystem::create_directories(folder_); }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    ::unsetenv("KUBERNETES_SERVICE_HOST");
    ::unsetenv("KUBERNETES_SERVICE_PORT");
  }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  static Result<Access> read(std::vector<std::string> files, const std::string& context = "") {
    return read_kubeconfig({.files = std::move(files), .named = false, .context = context});
  }
  // A whole kubeconfig with these lines of its one cluster and user.
  std::string config(const std::string& cluster, const std::string& user) const {
    return write(
        "config",
        fmt::format(
            "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
            "contexts: [{{name: here, context: {{cluster: c, user: u, namespace: ml}}}}]\n"
            "clusters:\n- name: c\n  cluster: {{server: 'https://api.example.com:6443/', {}}}\n"
            "users:\n- name: u\n  user: {{{}}}\n",
            cluster, user));
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("stoker-kubeconfig-test-{}", ::getpid());
};

TEST_F(Kubeconfig, GivesServerNamespaceAndInlineCertificates) {
  const auto access =
      read({config("certificate-authority-data: Y2E=, tls-server-name: api.internal",
                   "client-certificate-data: Y2VydA==, client-key-data: a2V5")});
  ASSERT_TRUE(access) << access.error().describe();
  EXPECT_EQ(access->name, "here");
  EXPECT_EQ(access->server, "https://api.example.com:6443");
  EXPECT_EQ(access->name_space, "ml");
  EXPECT_EQ(access->tls.authorities, "ca");
  EXPECT_EQ(access->tls.server_name, "api.internal");
  EXPECT_EQ(access->tls.certificate, "cert");
  EXPECT_EQ(access->tls.key, "key");
  EXPECT_FALSE(access->tls.unverified);
}

TEST_F(Kubeconfig, FindsFilesBesideItself) {
  write("ca.pem", "authority");
  const auto access = read({config("certificate-authority: ca.pem, insecure-skip-tls-verify: true",
                                   "tokenFile: token, token: old")});
  ASSERT_TRUE(access) << access.error().describe();
  EXPECT_EQ(access->tls.authorities, "authority");
  EXPECT_TRUE(access->tls.unverified);
  EXPECT_EQ(access->token_file, (folder_ / "token").string());
  EXPECT_EQ(access->token, "") << "the file goes before the token";
}

TEST_F(Kubeconfig, ReadsAnExecPlugin) {
  const auto access = read(
      {config("",
              "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [a, b],"
              " env: [{name: X, value: y}], installHint: install it}")});
  ASSERT_TRUE(access) << access.error().describe();
  ASSERT_TRUE(access->exec);
  EXPECT_EQ(access->exec->command, (folder_ / "./login").string());
  EXPECT_THAT(access->exec->arguments, testing::ElementsAre("a", "b"));
  EXPECT_THAT(access->exec->environment, testing::ElementsAre(testing::Pair("X", "y")));
}

// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files
TEST_F(Kubeconfig, TakesEachEntryFromTheFirstFileThatHasIt) {
  const auto first = write("first",
                           "clusters: [{name: c, cluster: {server: 'https://one.example.com'}}]\n"
                           "users: [{name: u, user: {token: red}}]\n");
  const auto second =
      write("second",
            "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
            "clusters: [{name: c, cluster: {server: 'https://two.example.com', "
            "insecure-skip-tls-verify: true}}]\n"
            "users: [{name: u, user: {token: blue, as: somebody}}]\n");
  const auto access = read({first, (folder_ / "none").string(), second});
  ASSERT_TRUE(access) << access.error().describe();
  EXPECT_EQ(access->server, "https://one.example.com");
  EXPECT_FALSE(access->tls.unverified);
  EXPECT_EQ(access->token, "red");
  EXPECT_EQ(access->as_user, "");
}

TEST_F(Kubeconfig, SaysWhatIsWrongAndWhatWouldBeRight) {
  const auto message = [](const Result<Access>& access) {
    return access ? "no error" : access.error().describe();
  };
  EXPECT_THAT(message(read({config("", "token: t")}, "her")),
              HasSubstr("no context 'her'; did you mean 'here'?"));
  EXPECT_THAT(message(read({config("proxy-url: 'http://p:3128'", "")})),
              HasSubstr("a proxy is not supported"));
  EXPECT_THAT(message(read({config("", "username: a, password: b")})),
              HasSubstr("kubectl create token"));
  EXPECT_THAT(message(read({config("", "auth-provider: {name: gcp}")})),
              HasSubstr("auth-provider is not supported"));
  EXPECT_THAT(message(read({config("", "client-certificate-data: Y2E=")})),
              HasSubstr("needs its client-key"));
  EXPECT_THAT(message(read({config("certificate-authority-data: '?'", "")})),
              HasSubstr("no base64"));
  EXPECT_THAT(message(read({config("certificate-authority: gone.pem", "")})),
              HasSubstr("gone.pem"));
  EXPECT_THAT(message(read({config("", "exec: {args: [a]}")})), HasSubstr("without a command"));
  EXPECT_THAT(message(read({write("bare", "kind: Config\n")})), HasSubstr("no current-context"));
  EXPECT_THAT(message(read({write(
                  "lost", "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n")})),
              HasSubstr("no cluster 'c'"));
  EXPECT_THAT(message(read({write("torn", "a: [b\n")})), HasSubstr("torn:"));
  EXPECT_EQ(read({(folder_ / "none").string()}).error().code(), ErrorCode::not_found);
}

TEST_F(Kubeconfig, IsFoundByFlagThenVariableThenHome) {
  ::setenv("KUBECONFIG", "/a::/b", 1);
  ::setenv("HOME", "/home/x", 1);
  EXPECT_THAT(kubeconfig_question("", "").files, testing::ElementsAre("/a", "/b"));
  EXPECT_THAT(kubeconfig_question("/named", "").files, testing::ElementsAre("/named"));
  EXPECT_TRUE(kubeconfig_question("/named", "").named);
  ::unsetenv("KUBECONFIG");
  EXPECT_THAT(kubeconfig_question("", "").files, testing::ElementsAre("/home/x/.kube/config"));
}

TEST_F(Kubeconfig, OfAPodIsItsServiceAccount) {
  EXPECT_EQ(in_cluster_access(folder_.string()).error().code(), ErrorCode::not_found);
  ::setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  EXPECT_EQ(in_cluster_access(folder_.string()).error().code(), ErrorCode::not_found) << "no token";
  write("token", "t");
  write("ca.crt", "authority");
  write("namespace", "monitoring\n");
  const auto access = in_cluster_access(folder_.string());
  ASSERT_TRUE(access) << access.error().describe();
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->token_file, (folder_ / "token").string());
  EXPECT_EQ(access->tls.authorities, "authority");
  EXPECT_EQ(access->name_space, "monitoring");
}

}  // namespace
}  // namespace stoker::kubernetes
