// stoker explain, end to end: what stands in the catalogue, for people and as data. Goldens: tests/golden/cli.
#include <gtest/gtest.h>

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
