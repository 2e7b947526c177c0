// stoker why, end to end: a simulated node is asked.
#include <gtest/gtest.h>

#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST(WhyVerb, AnswersFromWhatTheAgentKnows) {
  const TempFolder folder;
  StokerProcess agent(
      {"up", "--sim", "hgx-h100", "--listen", "127.0.0.1:0", "--data", folder.path("data")});
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto inject =
      run_stoker({"sim", "inject", "--data", folder.path("data"), "power-brake", "--gpu", "3"});
  ASSERT_EQ(inject.status, 0) << inject.err;

  const auto deadline = steady_clock::now() + seconds(30);
  Outcome slow;
  do {
    std::this_thread::sleep_for(milliseconds(200));
    slow = run_stoker({"why", "slow", "3", "--agent", url});
  } while (slow.out.find("power brake") == std::string::npos && steady_clock::now() < deadline);
  EXPECT_EQ(slow.status, 1) << slow.err;
  EXPECT_NE(slow.out.find("GPU 3 (certain)"), std::string::npos) << slow.out;

  const auto pending = run_stoker({"why", "pending", "--agent", url, "-o", "json"});
  EXPECT_EQ(pending.status, 2) << pending.out;  // no kubelet here: who holds the GPUs is missing
  EXPECT_NE(pending.out.find("\"schema\": \"stoker.dev/v1/answer\""), std::string::npos)
      << pending.out;
  EXPECT_EQ(run_stoker({"why", "idle", "17", "--agent", url}).status, 2);
  EXPECT_EQ(run_stoker({"why", "rich", "--agent", url}).status, 2);
}

TEST(WhyVerb, NeedsAnAgent) {
  EXPECT_EQ(run_stoker({"why", "idle", "--agent", "http://127.0.0.1:9"}).status, 2);
}

}  // namespace
}  // namespace stoker::test
