#include "export/rdma.h"

#include <gtest/gtest.h>

#include <set>

#include "model/rdma_port.h"

namespace stoker::exporting {
namespace {

std::string told(const RdmaPorts& ports) {
  store::Snapshot snapshot;
  snapshot.ports = std::make_shared<const RdmaPorts>(ports);
  std::string text;
  Exposition out(text, Format::prometheus);
  write_rdma(out, snapshot);
  return text;
}

RdmaPort port_of(const std::string& device) {
  return {.device = device,
          .pci = *PciAddress::parse("0000:1b:00.0"),
          .model = "MT4129",
          .board = "MT_0000000838",
          .firmware = "28.39.1002",
          .link_layer = "InfiniBand",
          .state = "ACTIVE",
          .physical = "LinkUp",
          .rate = "400 Gb/sec (4X NDR)",
          .counters = {{"symbol_error", 7}, {"port_xmit_data", 1000}, {"VL15_dropped", 2}}};
}

TEST(RdmaSeries, HaveNodeExportersNamesLabelsAndUnits) {
  const auto text = told({.ports = {port_of("mlx5_0")}});
  for (
      const char* line :
      {"node_infiniband_symbol_error_total{device=\"mlx5_0\",port=\"1\"} 7\n",
       "node_infiniband_port_data_transmitted_bytes_total{device=\"mlx5_0\",port=\"1\"} 4000\n",
       "node_infiniband_vl15_dropped_total{device=\"mlx5_0\",port=\"1\"} 2\n",
       "node_infiniband_state_id{device=\"mlx5_0\",port=\"1\"} 4\n",
       "node_infiniband_physical_state_id{device=\"mlx5_0\",port=\"1\"} 5\n",
       "node_infiniband_rate_bytes_per_second{device=\"mlx5_0\",port=\"1\"} 5e+10\n",
       R"(node_infiniband_info{device="mlx5_0",board_id="MT_0000000838",firmware_version="28.39.1002",hca_type="MT4129"} 1)",
       "stoker_rdma_ports_known 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(text.find("link_downed"), std::string::npos) << "what is not counted has no series";
}

TEST(RdmaSeries, SayAtWhatRateMostOfAKindRun) {
  auto slow = port_of("mlx5_2");
  slow.rate = "200 Gb/sec (2X NDR)";
  const auto text = told({.ports = {port_of("mlx5_0"), port_of("mlx5_1"), slow}});
  EXPECT_NE(text.find("node_infiniband_rate_bytes_per_second{device=\"mlx5_2\",port=\"1\"} "
                      "2.5e+10\n"),
            std::string::npos);
  EXPECT_NE(text.find("stoker_rdma_port_peers_rate_bytes_per_second{device=\"mlx5_2\",port=\"1\"} "
                      "5e+10\n"),
            std::string::npos);
  EXPECT_EQ(told({.ports = {port_of("mlx5_0"), slow}}).find("peers_rate"), std::string::npos)
      << "of two nobody knows which is right";
}

TEST(RdmaSeries, WhatIsNotKnownHasNoLine) {
  RdmaPort silent{.device = "mlx5_0", .unread = {"state: why", "counters/symbol_error: why"}};
  const auto text = told({.ports = {silent}});
  EXPECT_EQ(text.find("_state_id"), std::string::npos);
  EXPECT_NE(text.find("stoker_rdma_port_unread{device=\"mlx5_0\",port=\"1\"} 2\n"),
            std::string::npos);
  const auto hung = told({.problem = "the next look hangs"});
  EXPECT_NE(hung.find("stoker_rdma_ports_known 0\n"), std::string::npos);
  EXPECT_EQ(hung.find("node_infiniband"), std::string::npos);
}

TEST(RdmaSeries, AreEachOfOneCounter) {
  std::set<std::string_view> names;
  std::set<std::string_view> counters;
  for (const RdmaSeries& row : rdma_series()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(counters.insert(row.counter).second) << row.counter;
    EXPECT_TRUE(row.name.ends_with("_total")) << row.name;
    EXPECT_TRUE(row.name.starts_with("node_infiniband_") || row.name.starts_with("stoker_rdma_"));
  }
}

}  // namespace
}  // namespace stoker::exporting
