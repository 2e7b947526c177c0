// stoker topo, end to end: what sysfs and the driver of each simulated node say, through agent, API and
// command line. Goldens for every profile stand in tests/golden/topo.
#include <gtest/gtest.h>

#include "support/asking.h"
#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

class TopoVerb : public ::testing::Test {
 protected:
  std::string up(const std::string& profile) {
    agent_.emplace(std::vector<std::string>{"up", "--sim", profile, "--data", folder_.path("data"),
                                            "--listen", "127.0.0.1:0"});
    return agent_->wait_ready();
  }
  // Asks until the answer no longer holds `early`, which is there before everything has been read.
  static Outcome ask_until_without(const std::string& early,
                                   const std::vector<std::string>& arguments) {
    const auto deadline = steady_clock::now() + seconds(20);
    Outcome outcome = run_stoker(arguments);
    while (outcome.out.find(early) != std::string::npos && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      outcome = run_stoker(arguments);
    }
    return outcome;
  }

  TempFolder folder_;
  std::optional<StokerProcess> agent_;
};

TEST_F(TopoVerb, PrintsWhatNvidiaSmiPrintedOnTheCapturedMachine) {
  const auto url = up("hgx-h200x4");
  ASSERT_NE(url, "") << agent_->err();
  const auto matrix = ask_until_without("N/A\tN", {"topo", "-m", "--agent", url});
  EXPECT_EQ(matrix.status, 0) << matrix.err;
  EXPECT_EQ(matrix.out, read_text(STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x4/topo-m.txt"));
  const auto piped = run_stoker({"topo", "--agent", url});
  EXPECT_EQ(piped.out, matrix.out) << "into a pipe the matrix is what scripts expect";
}

class EveryProfile : public TopoVerb, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryProfile, IsDrawnAndListedAsItWasBuilt) {
  const std::string profile = GetParam();
  const auto url = up(profile);
  ASSERT_NE(url, "") << agent_->err();
  const auto drawing = ask_until_without("?/", {"topo", "--draw", "--agent", url});
  EXPECT_EQ(drawing.status, 0) << drawing.err;
  expect_golden("topo/" + profile + ".draw.txt", replaced(drawing.out, hostname(), "HOST"));
  const auto matrix = run_stoker({"topo", "-m", "--agent", url});
  expect_golden("topo/" + profile + ".matrix.txt", matrix.out);
}

INSTANTIATE_TEST_SUITE_P(Profiles, EveryProfile,
                         ::testing::Values("hgx-h100", "hgx-h200x4", "a100-40", "a100-80", "a30x2",
                                           "l40sx8", "t4x4", "gb200-like"),
                         [](const auto& chosen) { return replaced(chosen.param, "-", "_"); });

TEST_F(TopoVerb, TellsALinkThatIsDown) {
  const auto url = up("hgx-h100");
  ASSERT_NE(url, "") << agent_->err();
  ask_until_without("?/", {"topo", "--draw", "--agent", url});
  ASSERT_EQ(run_stoker({"sim", "inject", "--data", folder_.path("data"), "nvlink-down", "--gpu",
                        "2", "--link", "3"})
                .status,
            0);
  const auto deadline = steady_clock::now() + seconds(30);
  std::string text;
  while (text.find("GPU2    17 of its 18 NVLinks are up") == std::string::npos &&
         steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    text = run_stoker({"topo", "--draw", "--agent", url}).out;
  }
  EXPECT_NE(text.find("GPU2    17 of its 18 NVLinks are up"), std::string::npos) << text;
  EXPECT_NE(text.find("NV18 between every two but these"), std::string::npos) << text;
}

TEST_F(TopoVerb, GivesDistancesAsData) {
  const auto url = up("hgx-h100");
  ASSERT_NE(url, "") << agent_->err();
  ask_until_without("?/", {"topo", "--draw", "--agent", url});
  const auto json = run_stoker({"topo", "-o", "json", "--agent", url});
  EXPECT_EQ(json.out.rfind("{\n  \"schema\": \"stoker.dev/v1/topology\",", 0), 0U)
      << json.out.substr(0, 100);
  for (const char* wanted : {R"("row": "GPU7")", R"("row": "NIC9")", R"("NIC0": "PIX")",
                             R"("GPU1": "NV18")", R"("nccl_ib_hca": "=mlx5_0,mlx5_1,)"}) {
    EXPECT_NE(json.out.find(wanted), std::string::npos) << wanted;
  }
}

TEST(TopoVerbAlone, SaysWhatToDoWhereNoAgentAnswers) {
  const auto outcome = run_stoker({"topo", "--agent", "http://127.0.0.1:1"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("stoker up"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace stoker::test
