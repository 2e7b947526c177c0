// stoker fabric ports, end to end, on the files of a simulated node.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "support/golden.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

class FabricPorts : public ::testing::Test {
 protected:
  void SetUp() override {
    StokerProcess agent(
        {"up", "--sim", "hgx-h100", "--data", folder_.path("data"), "--listen", "127.0.0.1:0"});
    ASSERT_NE(agent.wait_ready(), "") << agent.err();
    root_ = folder_.path("data/sim/root");
  }
  Outcome look(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"fabric", "ports", "--root", root_, "--for", "0s"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_stoker(arguments);
  }
  void put(const std::string& device, const std::string& file, const std::string& text) const {
    std::ofstream(root_ + "/sys/class/infiniband/" + device + "/ports/1/" + file) << text << '\n';
  }

  TempFolder folder_;
  std::string root_;
};

TEST_F(FabricPorts, SaysWhatIsWrongWithWhichPort) {
  const auto fine = look();
  EXPECT_EQ(fine.status, 0) << fine.out << fine.err;
  put("mlx5_3", "phys_state", "2: Polling");
  put("mlx5_3", "state", "1: DOWN");
  put("mlx5_5", "rate", "200 Gb/sec (2X NDR)");
  const auto told = look();
  EXPECT_EQ(told.status, 1);
  expect_golden("cli/fabric-ports.txt", told.out);
  const auto json = look({"-o", "json"});
  EXPECT_EQ(json.status, 1);
  EXPECT_NE(json.out.find("stoker.dev/v1/port"), std::string::npos);
  EXPECT_EQ(look({"--leave-out", "mlx5_3,mlx5_5"}).status, 0);
}

TEST_F(FabricPorts, CountsBetweenTwoLooks) {
  put("mlx5_0", "counters/link_downed", "3");
  const auto quiet = run_stoker({"fabric", "ports", "--root", root_, "--for", "100ms"});
  EXPECT_EQ(quiet.status, 0) << "what it held before has no time: " << quiet.out;
}

TEST_F(FabricPorts, WhereThereIsNoPortThatIsSaid) {
  const auto none = run_stoker({"fabric", "ports", "--root", folder_.path("nowhere")});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("no RDMA card"), std::string::npos) << none.err;
  EXPECT_EQ(look({"--for", "soon"}).status, 2);
}

}  // namespace
}  // namespace stoker::test
