#include "device/simnode/sim_node.h"

#include <set>

#include "device/simnode/simnode_test_support.h"

namespace stoker::simnode {
namespace {

TEST_F(SimNodeTest, EveryProfileMakesANodeOfItsOwnCards) {
  const std::vector<std::pair<std::string, std::size_t>> sizes{
      {"a100-40", 8},  {"a100-80", 8},    {"a30x2", 2},  {"gb200-like", 4},
      {"hgx-h100", 8}, {"hgx-h200x4", 4}, {"l40sx8", 8}, {"t4x4", 4}};
  ASSERT_EQ(profile_names().size(), sizes.size());
  std::set<std::string> uuids;
  for (const auto& [profile, gpus] : sizes) {
    const TestFolder folder;
    const auto node = SimNode::create({.profile = profile}, folder.path());
    ASSERT_TRUE(node) << node.error().describe();
    const auto report = node->report();
    EXPECT_EQ(report.profile, profile);
    ASSERT_EQ(report.gpus.size(), gpus) << profile;
    for (const auto& gpu : report.gpus) {
      EXPECT_EQ(gpu.uuid.size(), 40U);
      EXPECT_TRUE(gpu.uuid.starts_with("GPU-51000000-")) << gpu.uuid;
      EXPECT_TRUE(uuids.insert(gpu.uuid).second) << gpu.uuid << " stands twice";
      EXPECT_EQ(gpu.pids.size(), gpu.load == "idle" ? 0U : 1U);
      EXPECT_TRUE(gpu.faults.empty());
    }
  }
}

TEST_F(SimNodeTest, TheSameProfileIsTheSameNodeAgain) {
  const TestFolder other;
  make("a30x2");
  const auto again = SimNode::create({.profile = "a30x2"}, other.path());
  ASSERT_TRUE(again);
  for (unsigned row = 0; row < 2; ++row) {
    EXPECT_EQ(node_->report().gpus[row].uuid, again->report().gpus[row].uuid);
  }
}

TEST_F(SimNodeTest, ANodeThatIsThereIsTakenOverWithItsFaults) {
  make("hgx-h200x4");
  ASSERT_EQ(inject({.name = "vanish", .gpu = "2"}).find("refused"), std::string::npos);
  make("hgx-h200x4");
  EXPECT_EQ(node_->report().gpus[2].faults, std::vector<std::string>{"vanished"});
}

TEST_F(SimNodeTest, ANodeOfAnotherRecipeIsLeftAlone) {
  make("t4x4");
  const auto other = SimNode::create({.profile = "hgx-h100"}, folder_.path());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::invalid_input);
  EXPECT_EQ(other.error().message(), folder_.path() +
                                         "/sim holds another simulated node (t4x4); remove it or "
                                         "take another --data");
  EXPECT_EQ(node_->report().gpus.size(), 4U);
}

TEST_F(SimNodeTest, AnUnknownProfileListsTheNearestFirstAndWritesNothing) {
  const auto node = SimNode::create({.profile = "hgx-h10"}, folder_.path() + "/data");
  ASSERT_FALSE(node);
  EXPECT_TRUE(
      node.error().message().starts_with("there is no profile 'hgx-h10'; there are hgx-h100, "))
      << node.error().message();
  EXPECT_FALSE(exists(folder_.path() + "/data"));
}

TEST_F(SimNodeTest, AFolderWithoutANodeSaysHowToMakeOne) {
  const auto node = SimNode::open(folder_.path());
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code(), ErrorCode::not_found);
  EXPECT_NE(node.error().message().find("stoker sim node PROFILE --data"), std::string::npos);
}

TEST_F(SimNodeTest, AMachineFileMayNameProductsOfItsOwnFolder) {
  const std::string t4 =
      read_file(std::string(STOKER_SOURCE_DIR) + "/src/catalog/products/t4.yaml").value_or("");
  std::string mine = t4;
  mine.replace(mine.find("name: Tesla T4"), 14, "name: My Card");
  (void)folder_.write("catalog/mine.yaml", mine);
  const std::string machine = folder_.write("lab.yaml", R"(driver: 535.54.03
cuda: 12020
numa: ["0-7"]
load: training
gpus:
  - {product: mine, pci: "0000:01:00.0", numa: 0}
)");
  const auto node = SimNode::create(
      {.machine_file = machine, .catalog_folder = folder_.path() + "/catalog"}, folder_.path());
  ASSERT_TRUE(node) << node.error().describe();
  const auto report = node->report();
  EXPECT_EQ(report.profile, "lab");
  EXPECT_EQ(report.driver_version, "535.54.03");
  EXPECT_EQ(report.gpus.at(0).name, "My Card");
  EXPECT_EQ(report.gpus.at(0).load, "training");
  EXPECT_EQ(report.gpus.at(0).pids.size(), 1U);
}

TEST_F(SimNodeTest, AMachineThatAsksForInstancesThatDoNotFitIsRefusedWhole) {
  const std::string machine = folder_.write("mig.yaml", R"(driver: 580.159.04
cuda: 13000
numa: ["0-7"]
gpus:
  - {product: a100-40gb, pci: "0000:01:00.0", numa: 0, mig: [3g.20gb, 3g.20gb, 1g.5gb]}
)");
  const auto node = SimNode::create({.machine_file = machine}, folder_.path() + "/data");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code(), ErrorCode::invalid_input);
  EXPECT_TRUE(node.error().message().starts_with("gpus[0].mig: no place is free for 1g.5gb"))
      << node.error().message();
  EXPECT_FALSE(exists(folder_.path() + "/data/sim"));
}

TEST_F(SimNodeTest, TheDefaultNodeIsAtWork) {
  make("hgx-h100");
  std::vector<std::string> loads;
  for (const SimGpu& gpu : node_->report().gpus) loads.push_back(gpu.load);
  EXPECT_EQ(loads, (std::vector<std::string>{"training", "training", "training", "training",
                                             "inference", "inference", "starved", "idle"}));
}

TEST_F(SimNodeTest, LoadsBringTheirProcessAndTakeItAway) {
  make_idle("hgx-h200x4");
  ASSERT_TRUE(node_->set_load("training", "1"));
  EXPECT_EQ(node_->report().gpus[1].load, "training");
  ASSERT_EQ(node_->report().gpus[1].pids.size(), 1U);
  EXPECT_GT(node_->report().gpus[1].pids[0], 4194304U) << "no pid that Linux gives";
  EXPECT_TRUE(node_->report().gpus[0].pids.empty());
  ASSERT_TRUE(node_->set_load("idle", "all"));
  EXPECT_TRUE(node_->report().gpus[1].pids.empty());
  const auto wrong = node_->set_load("trainning", "all");
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(
      wrong.error().message().starts_with("there is no load 'trainning'; there are training, "))
      << wrong.error().message();
}

}  // namespace
}  // namespace stoker::simnode
