// A planned maintenance on a simulated node, by the built program: what is held back, and that it outlives the agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MaintenanceEndToEnd : public ::testing::Test {
 protected:
  std::vector<std::string> up() {
    return {"up", "--sim", "hgx-h100", "--data", data_, "--listen", "127.0.0.1:0"};
  }
  Outcome maintenance(std::vector<std::string> words) {
    words.insert(words.begin(), "maintenance");
    words.insert(words.end(), {"--data", data_});
    return run_stoker(words);
  }

  const TempFolder folder_;
  const std::string data_ = folder_.path("data");
};

TEST_F(MaintenanceEndToEnd, ALostCardIsASuspicionThroughARestartAndAnIncidentAtTheEnd) {
  {
    StokerProcess agent(up());
    const auto url = agent.wait_ready();
    ASSERT_NE(url, "") << agent.err();
    const auto begun = maintenance({"begin", "--for", "30m", "--why", "new driver"});
    ASSERT_EQ(begun.status, 0) << begun.err;
    EXPECT_THAT(begun.out, HasSubstr("Planned maintenance until 20"));
    EXPECT_THAT(begun.out, HasSubstr(": new driver."));
    ASSERT_EQ(run_stoker({"sim", "inject", "--data", data_, "vanish", "--gpu", "3"}).status, 0);
    EXPECT_THAT(run_until({"status", "--agent", url}, "gpu-lost"),
                HasSubstr("planned maintenance until"));
    agent.signal(SIGKILL);
    agent.wait();
  }
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  EXPECT_THAT(run_stoker({"status", "--agent", url}).out, HasSubstr("PLANNED   maintenance until"));
  ASSERT_EQ(run_stoker({"sim", "inject", "--data", data_, "xid", "94", "--gpu", "1"}).status, 0);
  const auto shown = run_until({"incidents", "--agent", url}, "memory-contained");
  EXPECT_THAT(shown, HasSubstr("memory-contained  open")) << "a fault of a card is told";
  EXPECT_THAT(shown, Not(HasSubstr("GPU 3 ")));
  const auto ended = maintenance({"end"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "No maintenance is planned.\n");
  EXPECT_THAT(run_stoker({"status", "--agent", url}).out, Not(HasSubstr("PLANNED")));
  EXPECT_THAT(maintenance({"end"}).err, HasSubstr("no maintenance is planned"));
}

TEST_F(MaintenanceEndToEnd, WhatIsWrongIsSaid) {
  const auto nobody = maintenance({"begin", "--for", "30m", "--why", "x"});
  EXPECT_EQ(nobody.status, 2);
  EXPECT_THAT(nobody.err, HasSubstr("no agent answers at"));
  EXPECT_THAT(maintenance({"begin", "--for", "8d", "--why", "x"}).err, HasSubstr("1s to 7d"));
  EXPECT_THAT(maintenance({"begin", "--for", "30", "--why", "x"}).err, HasSubstr("--for"));
  EXPECT_THAT(maintenance({"begin", "--for", "30m", "--why", ""}).err, HasSubstr("--why"));
  EXPECT_EQ(maintenance({"begin", "--for", "30m"}).status, 2);
  EXPECT_EQ(maintenance({}).status, 2);
}

}  // namespace
}  // namespace stoker::test
