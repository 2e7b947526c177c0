#include "cluster/kubernetes/api/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::kubernetes {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr const char* v1 = "client.authentication.k8s.io/v1";

Access shell(const std::string& script) {
  Access access;
  access.name = "test";
  access.exec = ExecPlugin{.api_version = v1,
                           .command = "sh",
                           .arguments = {"-c", script},
                           .environment = {{"GIVEN", "by-config"}},
                           .install_hint = "install the login program"};
  return access;
}

std::string problem_of(const std::string& script, milliseconds timeout = milliseconds(5000)) {
  const auto got = run_exec_plugin(shell(script), timeout);
  return got ? "none" : got.error().describe();
}

TEST(ExecPlugin, GivesTheTokenThatItPrints) {
  const auto got = run_exec_plugin(
      shell(R"(printf '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"%s"}}' )"
            "client.authentication.k8s.io/v1 $GIVEN"),
      milliseconds(5000));
  ASSERT_TRUE(got) << got.error().describe();
  EXPECT_EQ(got->token, "by-config");
}

TEST(ExecPlugin, IsToldThatNobodyCanAnswer) {
  const auto got = run_exec_plugin(
      shell(
          R"(case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*) printf '{"kind":"ExecCredential",)"
          R"("apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}}';; esac)"),
      milliseconds(5000));
  ASSERT_TRUE(got) << got.error().describe();
}

TEST(ExecPlugin, SaysWhatWentWrongAndWhatToDo) {
  EXPECT_THAT(problem_of("exit 3"), HasSubstr("exit code 3"));
  EXPECT_THAT(problem_of("exit 3"), HasSubstr("--token-file; install the login program"));
  EXPECT_THAT(problem_of("echo hello"), HasSubstr("no JSON object"));
  EXPECT_THAT(
      problem_of(
          R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}')"),
      HasSubstr("neither a token nor a certificate"));
  EXPECT_THAT(problem_of("while :; do echo 0123456789012345678901234567890123456789; done"),
              HasSubstr("prints without end"));
  Access none = shell("");
  none.exec->command = "stoker-test-no-such-program";
  EXPECT_EQ(run_exec_plugin(none, milliseconds(1000)).error().code(), ErrorCode::not_found);
  none.exec->api_version = "client.authentication.k8s.io/v1alpha1";
  EXPECT_THAT(run_exec_plugin(none, milliseconds(1000)).error().describe(),
              HasSubstr("v1alpha1 is not supported"));
}

TEST(ExecPlugin, IsKilledWithWhatItStartedWhenItsTimeIsOver) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(problem_of("sleep 100 & sleep 100", milliseconds(200)),
              HasSubstr("did not end in time"));
  EXPECT_THAT(problem_of("exec >&-; sleep 100", milliseconds(200)),
              HasSubstr("did not end in time"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace stoker::kubernetes
