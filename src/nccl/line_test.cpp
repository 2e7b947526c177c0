#include "nccl/line.h"

#include <gtest/gtest.h>

namespace stoker::nccl {
namespace {

std::vector<Line> split(std::string_view raw) {
  std::vector<Line> lines;
  split_line(raw, lines);
  return lines;
}

struct Row {
  std::string raw;
  Voice voice;
  std::string host;
  std::uint32_t pid;
  std::optional<int> device, rank;
  std::string file, text;
};

// The forms of docs/specs/nccl.md, behind what launchers put there.
TEST(NcclLine, IsReadInEveryVersionsFormAndBehindEveryFront) {
  const std::vector<Row> rows = {
      {"node-a:1579:1608 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.2<0>",
       Voice::info,
       "node-a",
       1579,
       0,
       {},
       "",
       "Bootstrap: Using eth0:192.0.2.2<0>"},
      {"node-a:1:2 [3] transport/net_ib.cc:93 NCCL WARN NET/IB : x",
       Voice::warn,
       "node-a",
       1,
       3,
       {},
       "transport/net_ib.cc",
       "NET/IB : x"},
      {"[2026-03-13 22:26:02] n.example:7:8 [5] ibvwrap.c:262 NCCL WARN y",
       Voice::warn,
       "n.example",
       7,
       5,
       {},
       "ibvwrap.c",
       "y"},
      {"n:7:8 [5] transport/nvls.cc:379 (nvlsAllocateMem) NCCL WARN y",
       Voice::warn,
       "n",
       7,
       5,
       {},
       "transport/nvls.cc",
       "y"},
      {"n:7:8 [0] 123.25 init:99 NCCL TRACE z", Voice::trace, "n", 7, 0, {}, "", "z"},
      {"n:7:8 NCCL CALL ncclAllReduce(1)", Voice::call, "n", 7, {}, {}, "", "ncclAllReduce(1)"},
      {"n:7:8 [0] INFO NET/Socket : 1 interfaces found",
       Voice::info,
       "n",
       7,
       0,
       {},
       "",
       "NET/Socket : 1 interfaces found"},
      {"n:7:8 [0] include/socket.h:360 WARN Call to connect failed",
       Voice::warn,
       "n",
       7,
       0,
       {},
       "include/socket.h",
       "Call to connect failed"},
      {"[1,12]<stdout>:n-1:815:864 [0] NCCL INFO a", Voice::info, "n-1", 815, 0, 12, "", "a"},
      {"(RayWorkerWrapper pid=248, ip=192.0.2.1) n:7:8 [0] NCCL INFO a",
       Voice::info,
       "n",
       7,
       0,
       {},
       "",
       "a"},
      {"[default0]:[rank12]:n:7:8 [0] NCCL INFO a", Voice::info, "n", 7, 0, 12, "", "a"},
      {"3: n:7:8 [0] NCCL INFO a", Voice::info, "n", 7, 0, 3, "", "a"},
      {"  | 2024-11-28T07:42:11.525Z | algo-1:17775:17775 [2] NCCL INFO a",
       Voice::info,
       "algo-1",
       17775,
       2,
       {},
       "",
       "a"},
      {"[3] include/shm.h:28 NCCL WARN b", Voice::warn, "", 0, 3, {}, "include/shm.h", "b"},
      {"transport/nvls.cc:165 NCCL WARN b", Voice::warn, "", 0, {}, {}, "transport/nvls.cc", "b"},
  };
  for (const auto& row : rows) {
    const auto lines = split(row.raw);
    ASSERT_EQ(lines.size(), 1U) << row.raw;
    const auto& line = lines.front();
    EXPECT_EQ(line.voice, row.voice) << row.raw;
    EXPECT_EQ(line.host, row.host) << row.raw;
    EXPECT_EQ(line.pid, row.pid) << row.raw;
    EXPECT_EQ(line.device, row.device) << row.raw;
    EXPECT_EQ(line.rank, row.rank) << row.raw;
    EXPECT_EQ(line.file, row.file) << row.raw;
    EXPECT_EQ(line.text, row.text) << row.raw;
  }
}

TEST(NcclLine, OfTwoRanksThatRanIntoOneAnotherIsTwo) {
  const auto lines =
      split("a:1:1 [0] NCCL INFO Channel 00/24 : 0 1 2 3b:2:2 [1] init.cc:5 NCCL WARN Call failed");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].voice, Voice::warn);
  EXPECT_EQ(lines[1].pid, 2U);
  EXPECT_EQ(lines[1].text, "Call failed");
  const auto torch = split("[rank3]:[E1 x[rank5]:[E2 y");
  ASSERT_EQ(torch.size(), 2U);
  EXPECT_EQ(torch[0].rank, 3);
  EXPECT_EQ(torch[1].rank, 5);
  EXPECT_EQ(torch[1].text, "[E2 y");
}

TEST(NcclLine, HasNoRankWhereItsFrontCountsNodes) {
  EXPECT_EQ(rank_in_front("(VllmWorker rank=1 pid=11606) "), 1);
  EXPECT_EQ(rank_in_front("(head, rank=0, pid=5634) "), std::nullopt);
  EXPECT_EQ(rank_in_front("(worker1, rank=1, pid=5634, ip=192.0.2.2) "), std::nullopt);
}

TEST(NcclLine, ThatOnlyTalksOfNcclIsNone) {
  for (const auto* raw :
       {"see whether it says NCCL WARN Call to posix_fallocate failed : No space left on device",
        "If you see `NCCL WARN Duplicate GPU detected`, set the device", "INFO starting",
        "WARN disk is full", "2026-01-01 10:00:00 INFO trainer: step 5",
        "set NCCL_DEBUG=INFO to see NCCL INFO lines"}) {
    const auto lines = split(raw);
    ASSERT_EQ(lines.size(), 1U) << raw;
    EXPECT_EQ(lines.front().voice, Voice::other) << raw;
  }
}

TEST(NcclLine, TellsItsTimeInEveryForm) {
  constexpr double day = 86400;
  EXPECT_NEAR(
      seconds_of_year("[rank0]:[E1127 21:52:45.977186709 ProcessGroupNCCL.cpp:689] x").value_or(0),
      (304 + 26) * day + 78765.977, 0.01);
  EXPECT_NEAR(seconds_of_year("[80746] [rank0]:[E321 02:07:08.408271257 x").value_or(0),
              (59 + 20) * day + 7628.408, 0.01);
  EXPECT_NEAR(seconds_of_year("[2026-03-13 22:26:02] n:1:2 [0] x").value_or(0),
              (59 + 12) * day + 80762, 0.01);
  EXPECT_FALSE(seconds_of_year("node-a:1:2 [0] NCCL INFO x"));
}

TEST(NcclLine, LosesItsColours) {
  std::string buffer;
  EXPECT_EQ(without_colour("\x1b[36m(a pid=1)\x1b[0m b", buffer), "(a pid=1) b");
  EXPECT_EQ(without_colour("plain", buffer), "plain");
  EXPECT_EQ(without_colour("cut\x1b[", buffer), "cut");
}

}  // namespace
}  // namespace stoker::nccl
