// The ports of RDMA cards, end to end: a simulated node, faults of its ports, series, findings and incidents.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/stoker_process.h"

namespace stoker::test {
namespace {

class RdmaPortsOfAnAgent : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_.path("checks.d"));
    std::ofstream(folder_.path("checks.d/fast.yaml"))
        << "checks:\n"
           "  - {id: port-down, for: 1s, clear_for: 1s}\n"
           "  - {id: port-slow, for: 1s, clear_for: 1s}\n"
           "  - {id: port-errors, window: 3s, clear_for: 0s}\n"
           "  - {id: port-flapping, window: 3s, clear_for: 0s}\n";
    std::ofstream(folder_.path("stoker.yaml"))
        << "checks:\n  folder: " << folder_.path("checks.d") << "\nsample:\n  scale: 20\n";
    agent_.emplace(std::vector<std::string>{"up", "--sim", "hgx-h100", "--data",
                                            folder_.path("data"), "--listen", "127.0.0.1:0",
                                            "--config", folder_.path("stoker.yaml")});
    url_ = agent_->wait_ready();
    ASSERT_NE(url_, "") << agent_->err();
  }
  void inject(std::vector<std::string> fault) {
    std::vector<std::string> all = {"sim", "inject", "--data", folder_.path("data")};
    all.insert(all.end(), fault.begin(), fault.end());
    const auto done = run_stoker(all);
    ASSERT_EQ(done.status, 0) << done.err;
  }
  std::string ask(std::vector<std::string> verb) {
    verb.insert(verb.end(), {"--agent", url_});
    return run_stoker(verb).out;
  }
  bool is_told(const std::string& text) { return ask({"status"}).find(text) != std::string::npos; }
  // Until the verb's answer has `text`; the last answer.
  std::string wait_for(const std::vector<std::string>& verb, const std::string& text) {
    std::string told;
    for (int tries = 0; tries < 100; ++tries) {
      told = ask(verb);
      if (told.find(text) != std::string::npos) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_NE(told.find(text), std::string::npos) << text << " in\n" << told;
    return told;
  }

  TempFolder folder_;
  std::optional<StokerProcess> agent_;
  std::string url_;
};

std::size_t occurrences_of(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST_F(RdmaPortsOfAnAgent, ACableThatIsOutIsOneIncidentAndOverWhenItIsIn) {
  const std::vector<std::string> incidents = {"incidents", "-o", "json"};
  inject({"port-down", "mlx5_3"});
  const auto open = wait_for(incidents, "port-down");
  EXPECT_EQ(occurrences_of(open, "\"network-port\""), 1U) << "one cause, one incident\n" << open;
  EXPECT_NE(open.find("Cable unplugged"), std::string::npos) << "the kernel's line is its evidence";
  wait_for({"status"}, "mlx5_3 port 1 is down (Polling)");
  inject({"port-up", "mlx5_3"});
  wait_for(incidents, "\"proving\"");
}

TEST_F(RdmaPortsOfAnAgent, ErrorsAndASlowLinkAreFound) {
  // What was there before the first look is nobody's news: that look, not the first judgement, has to be over.
  wait_for({"status"}, "hgx-h100");
  for (int tries = 0; tries < 15 && !is_told("symbol errors"); ++tries) {
    inject({"port-count", "mlx5_1", "symbol_error", "500"});
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
  wait_for({"status"}, "symbol errors");
  inject({"port-slow", "mlx5_5"});
  wait_for({"status"}, "mlx5_5 port 1 runs at 200 Gb/sec (2X NDR)");
  inject({"port-up", "mlx5_5"});
  const std::vector<std::string> incidents = {"incidents", "-o", "json"};
  wait_for(incidents, "\"proving\"");
}

}  // namespace
}  // namespace stoker::test
