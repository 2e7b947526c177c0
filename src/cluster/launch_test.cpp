#include "cluster/launch.h"

#include <gtest/gtest.h>

namespace stoker::cluster {
namespace {

using Variables = std::map<std::string, std::string>;

Launch launched(const Variables& environment, const std::string& container = "") {
  return launch_of({.container_id = container}, environment);
}

TEST(LaunchOf, TorchrunSaysWhereItsRanksMeet) {
  const Launch launch = launched(
      {{"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "29500"}, {"RANK", "3"}, {"WORLD_SIZE", "16"}});
  EXPECT_EQ(launch, (Launch{.id = "10.0.0.1:29500", .rank = 3, .ranks = 16}));
}

TEST(LaunchOf, OpenMpiHasANamespace) {
  const Launch launch = launched({{"PMIX_NAMESPACE", "prterun-node1-4711@1"},
                                  {"OMPI_COMM_WORLD_RANK", "0"},
                                  {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_EQ(launch, (Launch{.id = "prterun-node1-4711@1", .rank = 0, .ranks = 2}));
}

TEST(LaunchOf, SlurmTellsTheRankAlone) {
  EXPECT_EQ(launched({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}}),
            (Launch{.id = "", .rank = 5, .ranks = 8}));
}

TEST(LaunchOf, AnAddressOfThisHostIsTheContainersOwn) {
  const Variables environment = {
      {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}, {"WORLD_SIZE", "2"}};
  EXPECT_NE(launched(environment, std::string(64, 'a')).id,
            launched(environment, std::string(64, 'b')).id);
  EXPECT_EQ(launched(environment).id, "127.0.0.1:29500");
}

TEST(LaunchOf, OneRankAndWhatIsNoAddressAreNoLaunch) {
  EXPECT_EQ(launched({{"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "29500"}, {"WORLD_SIZE", "1"}}),
            Launch{});
  EXPECT_EQ(launched({{"MASTER_ADDR", "10.0.0.1"}}).id, "");
  EXPECT_EQ(
      launched({{"MASTER_ADDR", "\x1b[2J"}, {"MASTER_PORT", "29500"}, {"WORLD_SIZE", "2"}}).id, "");
  EXPECT_EQ(launched({}), Launch{});
}

}  // namespace
}  // namespace stoker::cluster
