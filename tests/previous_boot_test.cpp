// A node that went down uncleanly, by the built program: its journal is made by systemd's own program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "os/journal_test_support.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* boot = "11111111111141118111111111111111";
constexpr const char* journal_start = "f77379a8490b408bbe5f6940505a777b";
constexpr const char* journal_stop = "d93fb3c9c24d451a97cea615ce59c00b";

class PreviousBootEndToEnd : public ::testing::Test {
 protected:
  // Made before the agent's first start; what is wrong, else empty.
  std::string make_node(bool shut_down) {
    const auto made = run_stoker({"sim", "node", "hgx-h100", "--data", data_});
    if (made.status != 0) return made.err;
    const auto now = system_clock().wall().since_epoch / Seconds(1) - os::JournalText::began;
    os::JournalText text;
    text.systemd(now - 900, 1, boot, journal_start)
        .kernel(now - 610, 291, boot,
                "NVRM: Xid (PCI:0000:61:00): 79, GPU has fallen off the bus.");
    if (shut_down) text.systemd(now - 600, 301, boot, journal_stop);
    return text.write(data_ + "/sim/root/var/log/journal");
  }
  std::vector<std::string> up() {
    return {"up", "--sim", "hgx-h100", "--data", data_, "--listen", "127.0.0.1:0"};
  }

  const TempFolder folder_;
  const std::string data_ = folder_.path("data");
};

TEST_F(PreviousBootEndToEnd, AnUncleanEndIsOneIncidentThroughRestartsAndItsLinesAreMarked) {
  if (const auto why = make_node(false); !why.empty()) GTEST_SKIP() << why;
  for (int start = 0; start < 2; ++start) {
    StokerProcess agent(up());
    const auto url = agent.wait_ready();
    ASSERT_NE(url, "") << agent.err();
    EXPECT_THAT(run_until({"incidents", "--all", "--agent", url}, "before-unclean-reboot"),
                HasSubstr("warning  before-unclean-reboot  open"));
    EXPECT_THAT(run_stoker({"incidents", "--all", "--agent", url}).out, Not(HasSubstr("\n2  ")));
    EXPECT_THAT(run_stoker({"events", "--agent", url}).out,
                HasSubstr("of the boot before this one, which ended uncleanly"));
    EXPECT_THAT(run_stoker({"status", "--agent", url}).out, HasSubstr("last boot ended uncleanly"));
    const auto one = run_stoker({"incident", "1", "--agent", url});
    EXPECT_THAT(one.out, HasSubstr("of the boot before: NVRM: Xid (PCI:0000:61:00): 79"));
    EXPECT_THAT(one.out, HasSubstr("observe"));
  }
}

TEST_F(PreviousBootEndToEnd, AShutdownOpensNothing) {
  if (const auto why = make_node(true); !why.empty()) GTEST_SKIP() << why;
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  EXPECT_THAT(run_until({"status", "--agent", url}, "last boot"),
              HasSubstr("last boot ended cleanly"));
  EXPECT_EQ(run_stoker({"incidents", "--all", "--agent", url}).out, "There is no incident.\n");
}

TEST_F(PreviousBootEndToEnd, WithoutAJournalThatIsSaidAndNoFinding) {
  StokerProcess agent(up());
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  EXPECT_THAT(
      run_until({"status", "-v", "--agent", url}, "last boot"),
      HasSubstr("last boot has left nothing to read (/var/log/journal: there is no journal"));
  EXPECT_EQ(run_stoker({"status", "--agent", url}).status, 0);
}

}  // namespace
}  // namespace stoker::test
