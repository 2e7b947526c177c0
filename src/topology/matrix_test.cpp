#include "topology/matrix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "topology/topology_test_support.h"

namespace stoker::topology {
namespace {

std::string captured(const std::string& machine) {
  std::ifstream in(STOKER_SOURCE_DIR "/tests/fixtures/captures/" + machine + "/topo-m.txt");
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_FALSE(text.str().empty());
  return std::move(text).str();
}

TEST(Matrix, IsWhatNvidiaSmiPrintedForOneH100) {
  NodeBuilder node;
  node.gpu("pci0000:00/0000:00:06.0", 0, "0-15");
  EXPECT_EQ(matrix(node.build()), captured("h100x1"));
}

TEST(Matrix, IsWhatNvidiaSmiPrintedForFourH200) {
  NodeBuilder node;
  for (const char* device : {"06", "07", "08", "09"}) {
    node.gpu(fmt::format("pci0000:00/0000:00:{}.0", device), 0, "0-63");
  }
  node.switched(18);
  EXPECT_EQ(matrix(node.build()), captured("h200x4"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The bytes of a GB200's container (NVIDIA's ai-dynamo/aiconfigurator, GB200_ANSI_TOPOLOGY): four tabs
// end a NIC's row, and an empty line ends the legend of NICs.
TEST(Matrix, NicsHaveRowsColumnsAndALegend) {
  NodeBuilder node;
  node.gpu("pci0008:00/0008:00:01.0/0008:01:00.0", 0, "0-35")
      .gpu("pci0009:00/0009:00:01.0/0009:01:00.0", 0, "0-35")
      .nic("mlx5_0", "pci0000:00/0000:00:01.0/0000:03:00.0", 0)
      .nic("mlx5_1", "pci0002:00/0002:00:01.0/0002:03:00.0", 0)
      .switched(18);
  const std::string text = matrix(node.build());
  const auto lines = lines_of(text);
  EXPECT_EQ(lines[0],
            "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m");
  EXPECT_EQ(lines[1], "GPU0\t X \tNV18\tNODE\tNODE\t0-35\t0\t\tN/A");
  EXPECT_EQ(lines[3], "NIC0\tNODE\tNODE\t X \tNODE\t\t\t\t");
  EXPECT_TRUE(text.ends_with("# NVLinks\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n\n"));
}

TEST(Matrix, ANodeThatIsNotKnownAndOneThatIsTheGpusOwnAreTold) {
  NodeBuilder node;
  node.gpu("pci0000:00/0000:00:06.0", -1, "0-7").gpu("pci0000:00/0000:00:07.0", 0, "0-7");
  node.card(1).info.memory_node = 2;
  const auto lines = lines_of(matrix(node.build()));
  EXPECT_EQ(lines[1], "GPU0\t X \tPHB\t0-7\t\tN/A\t\tN/A");
  EXPECT_EQ(lines[2], "GPU1\tPHB\t X \t0-7\t0\t\t2");
}

}  // namespace
}  // namespace stoker::topology
