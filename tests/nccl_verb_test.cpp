// stoker nccl, end to end: captured runs as a table and as data, a folder, standard input, and what can't be read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

namespace fs = std::filesystem;
const std::string captures = STOKER_SOURCE_DIR "/tests/fixtures/captures/";

std::string without_place(const std::string& text) { return replaced(text, captures, ""); }

TEST(NcclVerb, PrintsVerdictRanksEvidenceAndNextStep) {
  const auto table = run_stoker({"nccl", captures + "h200x4/nccl-die.txt"});
  EXPECT_EQ(table.status, 1) << table.err;
  expect_golden("cli/nccl_die.txt", without_place(table.out));
  const auto json = run_stoker({"nccl", captures + "h200x4/nccl-die.txt", "-o", "json"});
  EXPECT_EQ(json.status, 1);
  expect_golden("cli/nccl_die.json", without_place(json.out));
}

TEST(NcclVerb, WalksAFolderAndGivesEachJobItsVerdict) {
  const auto all = run_stoker({"nccl", captures + "h200x4", captures + "h200x2-hang"});
  EXPECT_EQ(all.status, 1) << all.err;
  for (const auto* verdict :
       {"Job 5 of 5", "dead-rank (certain)  rank 3", "missing-rank (certain)  rank 3",
        "collective-mismatch (certain)  rank 3", "healthy (certain)",
        "missing-rank (likely)  rank 1"}) {
    EXPECT_NE(all.out.find(verdict), std::string::npos) << verdict << '\n' << all.out;
  }
}

TEST(NcclVerb, SaysByItsExitCodeWhetherTheJobIsHealthyAndAllWasRead) {
  EXPECT_EQ(run_stoker({"nccl", captures + "h200x4/nccl-ok.txt"}).status, 0);
  const auto missing = run_stoker({"nccl", captures + "h200x4/nccl-die.txt", "/no/such/file"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("/no/such/file"), std::string::npos) << missing.err;
  EXPECT_NE(missing.out.find("dead-rank"), std::string::npos) << "the other file is still judged";
  EXPECT_EQ(run_stoker({"nccl"}).status, 2);
}

TEST(NcclVerb, RefusesADumpThatWouldRunCode) {
  const fs::path folder = fs::path(testing::TempDir()) / "nccl_verb";
  fs::create_directories(folder);
  std::ofstream(folder / "trace_0") << std::string(
                                           "\x80\x02"
                                           "cos\nsystem\n(S'true'\ntR.",
                                           24)
                                    << std::string(100, '.');
  const auto refused = run_stoker({"nccl", folder.string()});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("GLOBAL"), std::string::npos) << refused.err;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace stoker::test
