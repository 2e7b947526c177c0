// `stoker sim` as people use it: exit codes, what is said about wrong machines, and that nothing is
// started half. STOKER_UPDATE_GOLDEN=1 writes the golden files anew.
#include <unistd.h>

#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

namespace fs = std::filesystem;

class SimVerb : public testing::Test {
 protected:
  [[nodiscard]] std::string data() const { return folder_.path("node"); }

  // `stoker sim WORDS --data DATA`
  [[nodiscard]] Outcome sim(std::vector<std::string> words) const {
    words.insert(words.begin(), "sim");
    words.insert(words.end(), {"--data", data()});
    return run_stoker(words);
  }
  [[nodiscard]] int code_of(const std::vector<std::string>& words) const {
    return sim(words).status;
  }

  TempFolder folder_;
};

TEST_F(SimVerb, WrongMachinesAreSaidByLineAndColumnAndNothingIsWritten) {
  const fs::path machines = fs::path(STOKER_SOURCE_DIR) / "tests/golden/machines";
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(machines)) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const auto outcome = sim({"node", "--machine", entry.path().string()});
    EXPECT_EQ(outcome.status, 2) << entry.path();
    EXPECT_EQ(outcome.out, "") << entry.path();
    expect_golden("machines/" + entry.path().stem().string() + ".said",
                  replaced(outcome.err, machines.string() + "/", ""));
    EXPECT_FALSE(fs::exists(data())) << entry.path();
  }
  EXPECT_GE(files, 13U);
}

TEST_F(SimVerb, AMissingMachineFileIsNamed) {
  const auto outcome = sim({"node", "--machine", "/nonexistent/lab.yaml"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "stoker: read /nonexistent/lab.yaml: No such file or directory\n");
}

TEST_F(SimVerb, InjectHelpListsEveryFault) {
  const auto outcome = run_stoker({"sim", "inject", "--help"});
  EXPECT_EQ(outcome.status, 0);
  expect_golden("sim_inject_help.txt", outcome.out);
}

TEST_F(SimVerb, ExitCodesSayWhetherItWorkedWasRefusedOrWasWrong) {
  EXPECT_EQ(code_of({"show"}), 2) << "no node yet";
  EXPECT_EQ(code_of({"node", "hgx-h200x5"}), 2);
  ASSERT_EQ(code_of({"node", "hgx-h200x4"}), 0);
  EXPECT_EQ(code_of({"node", "hgx-h200x4"}), 0) << "there already";
  EXPECT_EQ(code_of({"node", "t4x4"}), 2) << "another node";
  EXPECT_EQ(code_of({"inject", "xid", "79", "--gpu", "3"}), 0);
  EXPECT_EQ(code_of({"inject", "mig-create", "7g.141gb", "--gpu", "0"}), 1) << "MIG is off";
  EXPECT_EQ(code_of({"inject", "mig-mode", "on", "--gpu", "0"}), 0);
  EXPECT_EQ(code_of({"inject", "mig-create", "7g.141gb", "--gpu", "0"}), 0);
  EXPECT_EQ(code_of({"inject", "mig-create", "1g.18gb", "--gpu", "0"}), 1)
      << "a card refuses that too";
  EXPECT_EQ(code_of({"inject", "xdi", "79"}), 2);
  EXPECT_EQ(code_of({"inject"}), 2);
  EXPECT_EQ(code_of({"inject", "hang", "--gpu", "9"}), 2);
  EXPECT_EQ(code_of({"load", "training"}), 0);
  EXPECT_EQ(code_of({"clear"}), 0);
  EXPECT_EQ(run_stoker({"sim", "show"}).status, 2) << "without --data";
}

TEST_F(SimVerb, ShowSaysHowClientsRunOnTheNode) {
  ASSERT_EQ(code_of({"node", "t4x4"}), 0);
  ASSERT_EQ(code_of({"inject", "hang", "--gpu", "1"}), 0);
  EXPECT_EQ(sim({"show", "--environment"}).out,
            "export STOKER_SIM_STATE=" + data() +
                "/sim/state\nexport LD_LIBRARY_PATH=" STOKER_BINARY_DIR "/lib/sim\n");
  const auto json = sim({"show", "-o", "json"});
  EXPECT_NE(json.out.find("stoker.dev/v1/simulation"), std::string::npos) << json.out;
  EXPECT_NE(json.out.find("\"hang: every call\""), std::string::npos) << json.out;
  EXPECT_NE(sim({"show"}).out.find("Tesla T4"), std::string::npos);
}

TEST_F(SimVerb, TheLinesForAShellHoldWhateverThePathIs) {
  const std::string odd = data() + "/it's a node";
  ASSERT_EQ(run_stoker({"sim", "node", "t4x4", "--data", odd}).status, 0);
  const std::string lines = run_stoker({"sim", "show", "--environment", "--data", odd}).out;
  const std::string quoted = data() + "/it'\\''s a node/sim/state'";
  EXPECT_NE(lines.find("STOKER_SIM_STATE='" + quoted), std::string::npos) << lines;
}

TEST_F(SimVerb, NothingIsLeftWhereANodeCannotBeMade) {
  const std::string file = folder_.write("node", "a file where the folder should be");
  const auto outcome = sim({"node", "t4x4"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(fs::is_regular_file(file));
}

}  // namespace
}  // namespace stoker::test
