// Send and receive, and order, by dumps of the structure that torch 2.11 writes (tests/fixtures/captures/h200x4/fr-*.pickle and
// torch/distributed/flight_recorder): written as JSON, which torch's own writer can too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "nccl/nccl_test_support.h"

namespace stoker::nccl {
namespace {

// The dump of one rank, entry by entry in the order of its calls.
class RankDump {
 public:
  RankDump& config(const std::string& group, const std::string& ranks) {
    config_ += fmt::format(R"({}"{}": {{"name": "{}", "desc": "{}", "ranks": "{}"}})",
                           config_.empty() ? "" : ", ", group, group, group, ranks);
    return *this;
  }
  RankDump& call(const std::string& group, const std::string& name, int number,
                 const std::string& state) {
    const bool p2p = name.starts_with("send") || name.starts_with("recv");
    entries_ += fmt::format(
        R"({}{{"record_id": {}, "process_group": ["{}", "x"], "collective_seq_id": {}, "p2p_seq_id": {}, "profiling_name": "nccl:{}", "input_sizes": [[8]], "output_sizes": [[8]], "input_dtypes": ["Float"], "state": "{}", "is_p2p": {}}})",
        entries_.empty() ? "" : ", ", record_++, group, p2p ? 0 : number, p2p ? number : 0, name,
        state, p2p ? "true" : "false");
    return *this;
  }
  RankDump& lose_beginning() {
    record_ = 2001;
    return *this;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format(
        R"({{"version": "2.10", "pg_config": {{{}}}, "pg_status": {{}}, "entries": [{}]}})",
        config_, entries_);
  }

 private:
  std::string config_, entries_;
  int record_ = 0;
};

Verdict judge_dumps(const std::vector<RankDump>& dumps) {
  Facts facts;
  for (std::size_t rank = 0; rank < dumps.size(); ++rank)
    read_text(facts, fmt::format("fr-{}", rank), dumps[rank].text());
  const auto verdicts = judge(facts);
  EXPECT_EQ(verdicts.size(), 1U);
  return verdicts.front();
}

RankDump world(const std::string& ranks) { return RankDump().config("0", ranks); }

TEST(WaitGraph, NamesTheRankThatHasNotSentWhatAnotherReceives) {
  const auto verdict = judge_dumps({
      world("[0, 1]").call("0", "send 0->1", 1, "completed"),
      world("[0, 1]").call("0", "recv 1<-0", 1, "completed").call("0", "recv 1<-0", 2, "scheduled"),
  });
  EXPECT_EQ(said(verdict), "missing-rank 0 likely") << verdict.summary;
  EXPECT_EQ(verdict.summary, "rank 1 waits in receive #2 from rank 0, which has issued 1 send");
}

TEST(WaitGraph, NamesTheRankThatHasNotReceivedWhatAnotherSends) {
  const auto verdict = judge_dumps({
      world("[0, 1]").call("0", "send 0->1", 1, "started"),
      world("[0, 1]").call("0", "all_reduce", 1, "completed"),
  });
  EXPECT_EQ(said(verdict), "missing-rank 1 likely") << verdict.summary;
  EXPECT_EQ(verdict.summary, "rank 0 waits in send #1 to rank 1, which has issued no receives");
}

TEST(WaitGraph, FollowsAPipelineToItsFirstStage) {
  // Stage 2 waits for 1, which waits for 0; 3 waits for all of them in an all-reduce.
  const auto verdict = judge_dumps({
      world("[0, 1, 2, 3]").call("0", "all_reduce", 1, "completed"),
      world("[0, 1, 2, 3]")
          .call("0", "all_reduce", 1, "completed")
          .call("0", "recv 1<-0", 1, "started"),
      world("[0, 1, 2, 3]")
          .call("0", "all_reduce", 1, "completed")
          .call("0", "recv 2<-1", 1, "started"),
      world("[0, 1, 2, 3]")
          .call("0", "all_reduce", 1, "completed")
          .call("0", "all_reduce", 2, "started"),
  });
  EXPECT_EQ(said(verdict), "missing-rank 0 likely") << verdict.summary;
}

TEST(WaitGraph, TellsAGroupsRanksByItsMembers) {
  const auto pair = [] { return RankDump().config("0", "[0, 1, 2, 3]").config("5", "[2, 3]"); };
  const auto verdict = judge_dumps({
      world("[0, 1, 2, 3]").call("0", "all_reduce", 1, "completed"),
      world("[0, 1, 2, 3]").call("0", "all_reduce", 1, "completed"),
      pair().call("0", "all_reduce", 1, "completed"),
      pair().call("0", "all_reduce", 1, "completed").call("5", "recv 1<-0", 1, "started"),
  });
  EXPECT_EQ(said(verdict), "missing-rank 2 likely") << verdict.summary;
}

TEST(WaitGraph, BlamesNobodyWhereBothSidesIssuedTheSame) {
  // A batch's parts stay "scheduled" for ever.
  const auto verdict = judge_dumps({
      world("[0, 1]").call("0", "send 0->1", 1, "scheduled"),
      world("[0, 1]").call("0", "recv 1<-0", 1, "scheduled"),
  });
  EXPECT_NE(verdict.verdict, Class::missing_rank) << verdict.summary;
  EXPECT_TRUE(verdict.ranks.empty());
}

TEST(WaitGraph, CountsNothingInARingThatLostItsBeginning) {
  const auto verdict = judge_dumps({
      world("[0, 1]").lose_beginning().call("0", "send 0->1", 900, "completed"),
      world("[0, 1]").call("0", "recv 1<-0", 1, "completed").call("0", "recv 1<-0", 2, "scheduled"),
  });
  EXPECT_NE(verdict.verdict, Class::missing_rank) << verdict.summary;
}

TEST(WaitGraph, BlamesNobodyOfWhomThereIsNoDump) {
  Facts facts;
  read_text(facts, "fr-1", world("[0, 1]").call("0", "recv 1<-0", 1, "started").text());
  const auto verdicts = judge(facts);
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_NE(verdicts[0].confidence, Confidence::likely) << verdicts[0].summary;
  EXPECT_NE(verdicts[0].confidence, Confidence::certain) << verdicts[0].summary;
}

TEST(WaitGraph, SaysThatTwoGroupsAreCalledInAnotherOrder) {
  const auto both = [] {
    return RankDump().config("0", "[0, 1]").config("1", "[0, 1]").config("2", "[0, 1]");
  };
  const auto verdict = judge_dumps({
      both()
          .call("1", "all_reduce", 1, "completed")
          .call("2", "all_reduce", 1, "completed")
          .call("1", "all_reduce", 2, "started"),
      both()
          .call("1", "all_reduce", 1, "completed")
          .call("2", "all_reduce", 1, "completed")
          .call("2", "all_reduce", 2, "started"),
  });
  EXPECT_EQ(said(verdict), "collective-mismatch 0 1 certain") << verdict.summary;
  EXPECT_NE(verdict.summary.find("different order"), std::string::npos) << verdict.summary;
  EXPECT_NE(
      verdict.summary.find("rank 0 waits in all_reduce of 8 elements #2 of group 1 for rank 1"),
      std::string::npos)
      << verdict.summary;
}

TEST(WaitGraph, SaysThatSendAndCollectiveAreCalledInAnotherOrder) {
  const auto verdict = judge_dumps({
      world("[0, 1]").call("0", "all_reduce", 1, "started"),
      world("[0, 1]").call("0", "recv 1<-0", 1, "started"),
  });
  EXPECT_EQ(said(verdict), "collective-mismatch 0 1 likely") << verdict.summary;
}

TEST(WaitGraph, BlamesARankLessSurelyThatMayWaitInAReceiveItself) {
  // Rank 1 waits for rank 0, whose ring has lost its beginning: whether it has sent can't be counted.
  const auto verdict = judge_dumps({
      world("[0, 1, 2]")
          .lose_beginning()
          .call("0", "all_reduce", 8, "completed")
          .call("0", "all_reduce", 9, "started"),
      world("[0, 1, 2]")
          .call("0", "all_reduce", 8, "completed")
          .call("0", "recv 1<-0", 1, "scheduled"),
      world("[0, 1, 2]")
          .lose_beginning()
          .call("0", "all_reduce", 8, "completed")
          .call("0", "all_reduce", 9, "started"),
  });
  EXPECT_LE(verdict.confidence, Confidence::possible) << verdict.summary;
}

TEST(WaitGraph, FollowsAWaitThatEndsInARankOutsideTheRing) {
  // 0 and 1 wait for each other over two groups, and 1 also for 2, which waits for nobody.
  const auto groups = [] {
    return RankDump().config("0", "[0, 1, 2]").config("1", "[0, 1]").config("2", "[0, 1, 2]");
  };
  const auto first = [&] {
    return groups().call("1", "all_reduce", 1, "completed").call("2", "all_reduce", 1, "completed");
  };
  const auto verdict = judge_dumps({first().call("1", "all_reduce", 2, "started"),
                                    first().call("2", "all_reduce", 2, "started"),
                                    groups().call("2", "all_reduce", 1, "completed")});
  EXPECT_EQ(verdict.verdict, Class::missing_rank) << verdict.summary;
  EXPECT_EQ(verdict.ranks, std::vector<int>{2}) << verdict.summary;
}

// As two H200 wrote it (torch 2.11, NCCL 2.28.9): a receive whose send was never issued.
constexpr const char* receive_lines =
    "[rank1]:[E1129 17:27:35.876856623 ProcessGroupNCCL.cpp:689] [Rank 1] Watchdog caught "
    "collective operation "
    "timeout: WorkNCCL(SeqNum=2, OpType=RECV, NumelIn=262144, NumelOut=262144, Timeout(ms)=10000) "
    "ran for 10097 "
    "milliseconds before timing out.\n"
    "[rank1]:[E1129 17:27:35.877001687 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID 0(default_pg) "
    "Rank 1]  failure "
    "detected by watchdog at work sequence id: 2 PG status: last enqueued work: 2, last completed "
    "work: 1\n"
    "[rank0]:[E1129 17:27:39.176766205 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) "
    "Rank 0] Received a "
    "dump signal due to a collective timeout from  rank 1 and we will try our best to dump the "
    "debug info. Last "
    "enqueued NCCL work: 1, last completed NCCL work: 1.\n";

std::string started(int ranks) {
  std::string log;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const auto* what : {"START", "COMPLETE"})
      log += fmt::format(
          "node-a:70{0}:70{0} [{0}] NCCL INFO ncclCommInitRank comm 0x55 rank {0} nranks {1} "
          "cudaDev {0} "
          "nvmlDev {0} busId {0}000 commId 0xd9 - Init {2}\n",
          rank, ranks, what);
  }
  return log;
}

TEST(WaitGraph, OfTwoRanksBlamesTheOtherForAReceiveThatTimedOut) {
  const auto verdict = judge_text(started(2) + receive_lines);
  EXPECT_EQ(said(verdict), "missing-rank 0 likely") << verdict.summary;
  EXPECT_EQ(verdict.summary.find("never called RECV"), std::string::npos) << verdict.summary;
}

TEST(WaitGraph, OfMoreBlamesNobodyByTheNumbersOfSendsAndReceives) {
  const auto verdict = judge_text(started(4) + receive_lines);
  EXPECT_EQ(verdict.verdict, Class::unknown) << verdict.summary;
  EXPECT_TRUE(verdict.ranks.empty());
  EXPECT_NE(verdict.summary.find("flight recorder's dumps"), std::string::npos) << verdict.summary;
}

// Counts of two communicators while two H200 stood in each other's, of which the third had made the others.
std::string crossed(int number) {
  std::string comms;
  for (const auto& [hash, first, second] :
       {std::tuple{"0x26fed306a573cda6", 1, 2}, std::tuple{"0x91ea71693c72afeb", 2, 1},
        std::tuple{"0x9d89b8d5198601bd", 3, 3}}) {
    comms += fmt::format(
        R"({}{{"hash": "{}", "size": 2, "ranks": [{{"rank": 0, "host": "192.0.2.2", "pid": 7, "collective_counts": {{"AllReduce": {}}}}}, {{"rank": 1, "host": "192.0.2.2", "pid": 8, "collective_counts": {{"AllReduce": {}}}}}], "missing_ranks": []}})",
        comms.empty() ? "" : ", ", hash, first + number, second + number);
  }
  return fmt::format("{{\n\"nccl_version\": \"2.28.9\", \"communicators\": [{}]\n}}\n", comms);
}

TEST(WaitGraph, OfRasBlamesNeitherOfTwoThatAreBehindEachOther) {
  Facts once;
  read_text(once, "ras", crossed(0));
  EXPECT_EQ(said(judge(once).front()), "collective-mismatch 0 1 possible")
      << judge(once).front().summary;
  Facts twice;
  read_text(twice, "ras 1", crossed(0));
  read_text(twice, "ras 2", crossed(0));
  EXPECT_EQ(said(judge(twice).front()), "collective-mismatch 0 1 likely")
      << judge(twice).front().summary;
  Facts goes_on;
  read_text(goes_on, "ras 1", crossed(0));
  read_text(goes_on, "ras 2", crossed(4));
  EXPECT_EQ(judge(goes_on).front().verdict, Class::healthy) << judge(goes_on).front().summary;
}

}  // namespace
}  // namespace stoker::nccl
