#include "device/simnode/port_files.h"
#include "device/simnode/simnode_test_support.h"

namespace stoker::simnode {
namespace {

constexpr const char* port_3 = "/sys/class/infiniband/mlx5_3/ports/1/";

TEST_F(SimNodeTest, APortLosesItsLinkAsItsDriverTellsAndGetsItBack) {
  make("hgx-h100");
  EXPECT_EQ(inject({.name = "port-down", .args = {"mlx5_3"}}), "mlx5_3 has no link");
  EXPECT_EQ(root_file(std::string(port_3) + "state"), "1: DOWN\n");
  EXPECT_EQ(root_file(std::string(port_3) + "phys_state"), "2: Polling\n");
  EXPECT_EQ(root_file(std::string(port_3) + "counters/link_downed"), "1\n");
  const std::string line = kernel().back();
  EXPECT_TRUE(line.starts_with("mlx5_core 0000:")) << line;
  EXPECT_TRUE(line.ends_with(": Port module event: module 3, Cable unplugged")) << line;
  EXPECT_EQ(inject({.name = "port-up", .args = {"mlx5_3"}}), "mlx5_3 has its link, at its rate");
  EXPECT_EQ(root_file(std::string(port_3) + "state"), "4: ACTIVE\n");
  EXPECT_EQ(root_file(std::string(port_3) + "counters/link_downed"), "1\n") << "it was counted";
}

TEST_F(SimNodeTest, APortIsSlowUntilItsFaultIsTakenBack) {
  make("hgx-h100");
  const auto whole = root_file(std::string(port_3) + "rate");
  EXPECT_EQ(whole, "400 Gb/sec (4X NDR)\n");
  inject({.name = "port-slow", .args = {"mlx5_3"}});
  inject({.name = "port-slow", .args = {"mlx5_3"}});
  EXPECT_EQ(root_file(std::string(port_3) + "rate"), "200 Gb/sec (2X NDR)\n") << "not a quarter";
  ASSERT_TRUE(node_->clear("all"));
  EXPECT_EQ(root_file(std::string(port_3) + "rate"), whole);
}

TEST_F(SimNodeTest, APortsCountersRiseAndWhatItHasNotIsRefused) {
  make("hgx-h100");
  inject({.name = "port-count", .args = {"mlx5_3", "symbol_error", "500"}});
  inject({.name = "port-count", .args = {"mlx5_3", "symbol_error"}});
  EXPECT_EQ(root_file(std::string(port_3) + "counters/symbol_error"), "501\n");
  inject({.name = "port-count", .args = {"mlx5_3", "out_of_sequence", "7"}});
  EXPECT_EQ(root_file(std::string(port_3) + "hw_counters/out_of_sequence"), "7\n");
  for (const std::vector<std::string>& args : {std::vector<std::string>{"mlx5_99", "symbol_error"},
                                               {"mlx5_3", "nothing"},
                                               {"mlx5_3", "../state"},
                                               {"mlx5_3", "symbol_error", "-1"},
                                               {"..", "symbol_error"}}) {
    EXPECT_TRUE(inject({.name = "port-count", .args = args}).starts_with("refused")) << args[1];
  }
}

}  // namespace
}  // namespace stoker::simnode
