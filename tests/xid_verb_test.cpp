// stoker xid scan, end to end: a log that mixes formats, as a table and as data. Goldens: tests/golden/cli.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

const std::string logs = STOKER_SOURCE_DIR "/tests/fixtures/logs/";

std::string without_place(const std::string& text) { return replaced(text, logs, "logs/"); }

TEST(XidScan, PrintsWhatALogTellsOf) {
  const auto table = run_stoker({"xid", "scan", logs + "mixed.log"});
  EXPECT_EQ(table.status, 1) << table.err;
  expect_golden("cli/xid_scan.txt", without_place(table.out));
  const auto lines = run_stoker({"xid", "scan", logs + "mixed.log", "-o", "jsonl"});
  EXPECT_EQ(lines.status, 1);
  expect_golden("cli/xid_scan.jsonl", without_place(lines.out));
}

const std::string readme = STOKER_SOURCE_DIR "/tests/fixtures/captures/README.md";

TEST(XidScan, SaysByItsExitCodeWhetherSomethingWasFoundAndCouldBeRead) {
  const auto nothing = run_stoker({"xid", "scan", readme, "-o", "json"});
  EXPECT_EQ(nothing.status, 0) << nothing.err;
  EXPECT_EQ(nothing.out, "{\"schema\":\"stoker.dev/v1/event\",\"events\":[]}\n");
  const auto missing =
      run_stoker({"xid", "scan", "/no/such/file", logs + "mixed.log", "-o", "json"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("/no/such/file"), std::string::npos) << missing.err;
  EXPECT_NE(missing.out.find("\"code\":79"), std::string::npos) << "the other file is still read";
  EXPECT_EQ(run_stoker({"xid", "scan"}).status, 2);
  const auto driver = run_stoker({"xid", "scan", logs + "mixed.log", "--driver", "new"});
  EXPECT_EQ(driver.status, 2);
  EXPECT_NE(driver.err.find("580"), std::string::npos) << driver.err;
}

}  // namespace
}  // namespace stoker::test
