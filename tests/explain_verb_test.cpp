// stoker explain, end to end: what stands in the catalogue, for people and as data. Goldens: tests/golden/cli.
#include <gtest/gtest.h>

#include <chrono>
#include <regex>

#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

TEST(Explain, SaysWhatANumberMeansAndWhatToDo) {
  std::string all;
  for (const char* number : {"13", "45", "74", "79", "154", "172", "176"}) {
    const auto said = run_stoker({"explain", "xid", number});
    EXPECT_EQ(said.status, 0) << said.err;
    all += said.out + "\n";
  }
  all += run_stoker({"explain", "xid", "144", "--driver", "550.90.07"}).out + "\n";
  all += run_stoker({"explain", "xid", "144", "--driver", "555.42.06"}).out + "\n";
  all += run_stoker({"explain", "sxid", "22003"}).out + "\n";
  all += run_stoker({"explain", "sxid", "30006"}).out;
  expect_golden("cli/explain.txt", all);
}

TEST(Explain, SaysItAsDataToo) {
  const auto xid = run_stoker({"explain", "xid", "79", "-o", "json"});
  EXPECT_EQ(xid.status, 0) << xid.err;
  const auto sxid = run_stoker({"explain", "sxid", "12028", "-o", "json"});
  EXPECT_EQ(sxid.status, 0) << sxid.err;
  expect_golden("cli/explain.json", xid.out + sxid.out);
}

TEST(Explain, TellsAnIncidentFromFrontToBack) {
  const TempFolder folder;
  const auto data = folder.path("data");
  StokerProcess agent({"up", "--sim", "hgx-h100", "--data", data, "--listen", "127.0.0.1:0"});
  const auto url = agent.wait_ready();
  ASSERT_NE(url, "") << agent.err();
  const auto say = [&](const std::string& line) {
    EXPECT_EQ(run_stoker({"sim", "inject", "--data", data, "kmsg", line}).status, 0);
  };
  say("NVRM: Xid (PCI:0000:61:00): 94, pid=4711, name=python3, Contained: SM (0x1). RST: No");
  say("NVRM: Xid (PCI:0000:61:00): 79, GPU has fallen off the bus.");
  say("NVRM: Xid (PCI:0000:61:00): 45, pid=4711, name=python3, Ch 00000008");
  Outcome told;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30 * slowdown);
  do {
    told = run_stoker({"explain", "incident", "1", "--agent", url});
  } while (told.out.find("45, pid") == std::string::npos &&
           std::chrono::steady_clock::now() < until);
  EXPECT_EQ(told.status, 0) << told.err;
  static const std::regex time(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)");
  expect_golden("cli/explain-incident.txt", std::regex_replace(told.out, time, "DAY AND TIME"));
  const auto data_too = run_stoker({"explain", "incident", "1", "--agent", url, "-o", "json"});
  EXPECT_NE(data_too.out.find("stoker.dev/v1/incident-explanation"), std::string::npos);
  const auto none = run_stoker({"explain", "incident", "9", "--agent", url});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("there is no incident \"9\""), std::string::npos) << none.err;
}

TEST(Explain, RefusesANumberThatIsNotKnown) {
  EXPECT_EQ(run_stoker({"explain", "xid", "999"}).status, 2);
  EXPECT_EQ(run_stoker({"explain", "xid", "x79"}).status, 2);
  EXPECT_EQ(run_stoker({"explain", "sxid", "1"}).status, 2);
  const auto old = run_stoker({"explain", "xid", "144", "--driver", "535.183.01"});
  EXPECT_EQ(old.status, 2);
  EXPECT_NE(old.err.find("to driver 535.183.01"), std::string::npos) << old.err;
}

}  // namespace
}  // namespace stoker::test
