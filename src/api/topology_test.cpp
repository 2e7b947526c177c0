#include <gtest/gtest.h>

#include "api/document_reader.h"
#include "api/topology_document.h"
#include "topology/drawing.h"
#include "topology/matrix.h"
#include "topology/topology_test_support.h"

namespace stoker::api {
namespace {

// A node on which something of everything is missing.
topology::Topology patchy() {
  auto node = topology::every_distance();
  node.switched(18);
  node.card(1).state = device::GpuState::hung;
  for (auto& [number, readings] : node.card(1).nvlinks) readings.mark_all(Reason::hung, {});
  node.card(2).info.memory_node = 2;
  node.devices().gpus.erase(node.card(3).info.pci);
  node.devices().nics.push_back({.name = "rxe0", .port_state = "DOWN"});
  node.devices().nics_problem = "denied";
  return node.build();
}

TEST(TopologyDocument, TheCommandLineSeesWhatTheAgentSaw) {
  const auto before = patchy();
  const auto after = read_topology(topology_document(before));
  ASSERT_TRUE(after) << after.error().describe();
  EXPECT_EQ(topology::matrix(*after), topology::matrix(before));
  EXPECT_EQ(topology::drawing(*after), topology::drawing(before));
}

TEST(TopologyDocument, MissingValuesTellTheirReason) {
  const auto json = Json::parse(topology_document(patchy()));
  const auto& gpus = json["gpus"];
  EXPECT_EQ(gpus[0]["distances"]["NIC0"], "PIX");
  EXPECT_EQ(gpus[0]["nearest_nics"], Json::parse(R"(["mlx5_0"])"));
  EXPECT_EQ(gpus[1]["distances"]["GPU0"], "N/A");
  EXPECT_TRUE(gpus[1]["nvlinks_up"].is_null());
  EXPECT_EQ(gpus[1]["nvlinks_up_reason"], "hung");
  EXPECT_TRUE(gpus[3]["sysfs_path"].is_null());
  EXPECT_EQ(gpus[3]["sysfs_path_reason"], "no_source");
  EXPECT_EQ(json["problem"], "denied");
}

TEST(TopologyDocument, WhatIsNoTopologyIsRefused) {
  EXPECT_FALSE(read_topology("{}"));
  EXPECT_FALSE(read_topology(
      R"({"schema":"stoker.dev/v1/topology","gpus":[{"index":0,"distances":{"GPU0":"near"}}]})"));
}

}  // namespace
}  // namespace stoker::api
