// Logs of very many processes, and of very large numbers.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "nccl/nccl_test_support.h"

namespace stoker::nccl {
namespace {

std::string start_of(int pid, int rank, int size, int communicator) {
  return fmt::format(
      "node1:{0}:{0} [0] NCCL INFO comm 0x{0:x} rank {1} nranks {2} cudaDev 0 nvmlDev 0 busId 1000 "
      "commId 0x{3:x} - Init START\n",
      pid, rank, size, communicator);
}

double seconds_to_judge(int processes) {
  std::string log;
  for (int i = 0; i < processes; ++i) log += start_of(1000 + i, i % 8, 8, 1 + i / 8);
  const auto began = std::chrono::steady_clock::now();
  Facts facts;
  read_text(facts, "log", log);
  EXPECT_EQ(facts.processes.size(), static_cast<std::size_t>(processes));
  EXPECT_EQ(judge(facts).size(), static_cast<std::size_t>(processes / 8));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

TEST(LargeLog, TakesFourTimesAsLongForFourTimesAsManyProcesses) {
  double factor = 100;
  for (int attempt = 0; attempt < 3 && factor > 8; ++attempt)
    factor = std::min(factor, seconds_to_judge(32'000) / seconds_to_judge(8'000));
  EXPECT_LT(factor, 8);
}

TEST(LargeLog, TellsOfAMillionRanksThoseThatItShows) {
  const auto verdict = judge_text(start_of(1000, 3, most_ranks, 1));
  EXPECT_EQ(verdict.size, most_ranks);
  EXPECT_EQ(verdict.matrix, (std::vector<std::string>{"ranks 0-2, 4-999999: nothing known",
                                                      "rank 3 on node1: never finished starting"}));
}

TEST(LargeLog, CountsNoRanksByANumberThatNoJobHas) {
  const auto verdict = judge_text(start_of(1000, 3, 2'000'000'000, 1));
  EXPECT_EQ(verdict.size, 0);
  EXPECT_EQ(verdict.verdict, Class::unknown);
}

// As many watchdog lines as there are process groups, each of them the world's.
TEST(LargeLog, NamesNoMemberOfAWorldOfWhichFewSpeak) {
  std::string log = start_of(1000, 0, most_ranks, 1);
  for (int rank = 0; rank < 3; ++rank)
    log += fmt::format(
        "[rank{0}]:[E1127 21:52:45.977186709 ProcessGroupNCCL.cpp:685] [Rank {0}] Watchdog caught "
        "collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
        "Timeout(ms)=60000) ran for 60075 milliseconds before timing out.\n",
        rank);
  const auto verdict = judge_text(log);
  EXPECT_EQ(verdict.verdict, Class::unknown);
  EXPECT_NE(verdict.summary.find("of other ranks nothing is known"), std::string::npos)
      << verdict.summary;
}

}  // namespace
}  // namespace stoker::nccl
