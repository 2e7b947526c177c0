#include "nccl/own_job.h"

#include <fmt/format.h>

#include <string_view>

#include "nccl/nccl_test_support.h"

namespace stoker::nccl {
namespace {

// Processes 100 to 100 + count - 1 of host "here", each with the number that it has for itself.
OwnJob job_of(std::uint32_t count) {
  OwnJob own;
  for (std::uint32_t i = 0; i < count; ++i) own.processes.push_back({{100 + i}, "here.example"});
  return own;
}

struct Listed {
  std::uint32_t pid;
  int calls;
  const char* host = "192.0.2.7";
};

std::string ras_of(const std::vector<Listed>& ranks) {
  std::string list;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    list += fmt::format(
        R"({}{{"rank": {}, "host": "{}", "pid": {}, "status": {{"async_error": 0}}, "collective_counts": {{"AllReduce": {}}}}})",
        i == 0 ? "" : ", ", i, ranks[i].host, ranks[i].pid, ranks[i].calls);
  return fmt::format(
      "{{\n\"nccl_version\": \"2.28.9\", \"communicators\": [{{\"hash\": \"0xabc\", \"size\": {}, "
      "\"ranks\": [{}], \"missing_ranks\": []}}], \"ras\": {{\"timeouts_count\": 0}}\n}}\n",
      ranks.size(), list);
}

OwnVerdict judge_answers(const std::vector<Listed>& ranks, std::uint32_t processes) {
  Facts facts;
  for (int i = 0; i < 2; ++i) read_text(facts, "RAS at 127.0.0.1:28028", ras_of(ranks));
  return judge_own(std::move(facts), job_of(processes));
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const auto& line : lines) all += line + '\n';
  return all;
}

bool has(const std::vector<std::string>& lines, std::string_view what) {
  return joined(lines).find(what) != std::string::npos;
}

TEST(OwnJob, IsToldByAnAnswerThatDoesNotListAProcessWhichIsNoRank) {
  const auto said_of = judge_answers({{100, 9}, {101, 9}, {102, 8}}, 4);
  ASSERT_TRUE(said_of.verdict) << joined(said_of.left_out);
  EXPECT_EQ(said(*said_of.verdict), "missing-rank 2 likely");
  EXPECT_TRUE(has(lines_of(*said_of.verdict),
                  "not known: process 103 of this job holds a GPU and is no rank"))
      << joined(lines_of(*said_of.verdict));
}

TEST(OwnJob, IsToldByAnAnswerOfSeveralHostsWhereOneIsItsOwn) {
  const auto said_of =
      judge_answers({{100, 9}, {101, 9}, {100, 8, "192.0.2.8"}, {777, 9, "192.0.2.8"}}, 3);
  ASSERT_TRUE(said_of.verdict) << joined(said_of.left_out);
  EXPECT_EQ(said(*said_of.verdict), "missing-rank 2 likely");
}

TEST(OwnJob, IsNotToldByAnAnswerOfOthersOfItsHostThatHaveSomeOfItsNumbers) {
  const auto said_of = judge_answers({{100, 9}, {101, 9}, {777, 8}}, 3);
  EXPECT_FALSE(said_of.verdict);
  EXPECT_TRUE(has(said_of.left_out,
                  "it answered for other processes than this job's, and does not list process 102"))
      << joined(said_of.left_out);
}

constexpr const char* harmless =
    "here:100:100 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.7<0>\n"
    "here:100:100 [0] NCCL INFO cudaDriverVersion 13000\n";
constexpr const char* broken_elsewhere =
    "elsewhere:777:790 [3] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer "
    "192.0.2.9<4000> with status=12 opcode=1 len=0 vendor err 129 (Send) hca mlx5_2\n";

std::string start_of(const char* host, int pid, int rank, const char* communicator) {
  return fmt::format(
      "{0}:{1}:{1} [0] NCCL INFO comm 0x55 rank {2} nranks 2 cudaDev 0 nvmlDev 0 busId 1000 "
      "commId {3} - Init START\n"
      "{0}:{1}:{1} [0] NCCL INFO comm 0x55 rank {2} nranks 2 cudaDev 0 nvmlDev 0 busId 1000 "
      "commId {3} - Init COMPLETE\n",
      host, pid, rank, communicator);
}

TEST(OwnJob, IsNotToldByTheLogOfAnotherInItsFolder) {
  Facts facts;
  read_text(facts, "logs/a.out", harmless);
  read_text(facts, "logs/b.out", broken_elsewhere);
  const auto said_of = judge_own(std::move(facts), job_of(1));
  ASSERT_TRUE(said_of.verdict);
  EXPECT_EQ(said_of.verdict->verdict, Class::unknown) << said_of.verdict->summary;
  EXPECT_TRUE(said_of.verdict->hosts.empty());
  EXPECT_TRUE(has(said_of.left_out, "logs/b.out: of other processes than this job's"))
      << joined(said_of.left_out);
}

TEST(OwnJob, IsNotToldByWhatOthersSayInItsOwnFile) {
  Facts facts;
  read_text(facts, "logs/all.out", std::string(harmless) + broken_elsewhere);
  const auto said_of = judge_own(std::move(facts), job_of(1));
  ASSERT_TRUE(said_of.verdict);
  EXPECT_EQ(said_of.verdict->verdict, Class::unknown) << said_of.verdict->summary;
  EXPECT_TRUE(has(said_of.left_out, "logs/all.out: what others than this job say in it"))
      << joined(said_of.left_out);
}

TEST(OwnJob, IsToldByAnotherHostThatSharesItsCommunicator) {
  Facts facts;
  read_text(facts, "logs/a.out", start_of("here", 100, 0, "0xabc"));
  read_text(facts, "logs/b.out", start_of("elsewhere", 777, 1, "0xabc") + broken_elsewhere);
  const auto said_of = judge_own(std::move(facts), job_of(1));
  ASSERT_TRUE(said_of.verdict);
  EXPECT_EQ(said_of.verdict->verdict, Class::ib_transport) << said_of.verdict->summary;
  EXPECT_TRUE(said_of.left_out.empty()) << joined(said_of.left_out);
}

std::string watchdog(int rank) {
  return fmt::format(
      "[rank{0}]:[E1127 21:52:45.000070947 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
      "Timeout(ms)=15000) ran for 15013 milliseconds before timing out.\n"
      "[rank{0}]:[E1127 21:52:45.000268661 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID "
      "0(default_pg) Rank {0}]  failure detected by watchdog at work sequence id: 5 PG status: "
      "last enqueued work: {1}, last completed work: 4\n",
      rank, rank == 0 ? 5 : 4);
}

TEST(OwnJob, IsNotToldByAnEarlierAttemptInItsOutput) {
  Facts facts;
  read_text(facts, "job.out",
            start_of("here", 55, 0, "0xdef") + start_of("here", 56, 1, "0xdef") + watchdog(0) +
                watchdog(1) + start_of("here", 100, 0, "0xabc"));
  auto own = job_of(2);
  own.files = {0};
  const auto said_of = judge_own(std::move(facts), own);
  ASSERT_TRUE(said_of.verdict);
  EXPECT_EQ(said_of.verdict->verdict, Class::unknown) << said_of.verdict->summary;
  EXPECT_EQ(said_of.verdict->summary.find("#5"), std::string::npos) << said_of.verdict->summary;
}

TEST(OwnJob, IsToldByTorchInItsOutputAndInNoOtherFile) {
  for (const bool own_file : {true, false}) {
    Facts facts;
    read_text(facts, "logs/nccl.100", harmless);
    read_text(facts, "logs/job.out", watchdog(0) + watchdog(1));
    auto own = job_of(1);
    if (own_file) own.files = {1};
    const auto said_of = judge_own(std::move(facts), own);
    ASSERT_TRUE(said_of.verdict);
    EXPECT_EQ(has(said_of.left_out, "logs/job.out: nothing in it says whose it is"), !own_file)
        << joined(said_of.left_out);
    EXPECT_EQ(said_of.verdict->summary.find("#5") != std::string::npos, own_file)
        << said_of.verdict->summary;
  }
}

TEST(OwnJob, IsNotToldByDumpsOfAnother) {
  Facts facts;
  read_text(facts, "logs/nccl.100", harmless);
  for (int rank = 0; rank < 4; ++rank)
    read_text(facts, fmt::format("old/trace_{}", rank),
              content_of(fmt::format(
                  STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x4/fr-hang-{}.pickle", rank)));
  const auto said_of = judge_own(std::move(facts), job_of(1));
  ASSERT_TRUE(said_of.verdict);
  EXPECT_EQ(said_of.verdict->verdict, Class::unknown) << said_of.verdict->summary;
  EXPECT_TRUE(has(said_of.left_out, "old/trace_0: nothing in it says whose it is"))
      << joined(said_of.left_out);
}

}  // namespace
}  // namespace stoker::nccl
