// A line in the kernel log of a simulated node, and the built program that tells of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(EventsEndToEnd, AnXidIsToldWithItsGpuItsMeaningAndWhatToDo) {
  const TempFolder folder;
  const std::string data = folder.path("data");
  StokerProcess agent({"up", "--sim", "hgx-h100", "--data", data, "--listen", "127.0.0.1:0"});
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto before = run_stoker({"events", "--agent", url});
  EXPECT_EQ(before.status, 0) << before.out << before.err;
  EXPECT_THAT(before.out, HasSubstr("says nothing about the GPUs"));

  const auto injected = run_stoker({"sim", "inject", "--data", data, "xid", "79", "--gpu", "3"});
  ASSERT_EQ(injected.status, 0) << injected.err;
  auto after = before;
  const auto until = system_clock().monotonic() + Seconds(30);
  while (after.status == 0 && system_clock().monotonic() < until) {
    after = run_stoker({"events", "--agent", url});
  }
  EXPECT_EQ(after.status, 1) << after.err;
  EXPECT_THAT(after.out, HasSubstr("xid 79  GPU 3 ("));
  EXPECT_THAT(after.out, HasSubstr("  hardware  "));
  EXPECT_THAT(after.out, HasSubstr("fallen off the bus"));

  const auto lines = run_stoker({"events", "--agent", url, "-o", "jsonl"});
  EXPECT_EQ(lines.status, 1);
  EXPECT_THAT(lines.out, HasSubstr(R"("number":1,)"));
  EXPECT_THAT(lines.out, HasSubstr(R"("gpu":3,"kind":"xid","code":79,)"));
}

TEST(EventsEndToEnd, WhereNobodyIsToLookThatIsSaidAndIsNoSilence) {
  const TempFolder folder;
  const auto config = folder.write("stoker.yaml", "events: {kernel_log: false}\n");
  StokerProcess agent({"up", "--sim", "t4x4", "--data", folder.path("data"), "--listen",
                       "127.0.0.1:0", "--config", config});
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto shown = run_stoker({"events", "--agent", url});
  EXPECT_EQ(shown.status, 2);
  EXPECT_THAT(shown.out, HasSubstr("No source of events is followed"));
  EXPECT_THAT(shown.out, Not(HasSubstr("says nothing")));
}

}  // namespace
}  // namespace stoker::test
