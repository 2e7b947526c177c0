// Who is blamed, where several could be: docs/specs/nccl.md, "Who is blamed".
#include "nccl/report.h"

#include <fmt/format.h>

#include "nccl/nccl_test_support.h"

namespace stoker::nccl {
namespace {

std::string init(int rank, int size, const std::string& id, bool complete = true) {
  const auto r = std::to_string(rank);
  const std::string head = "node-" + std::string(1, static_cast<char>('a' + rank / 2)) + ":" +
                           std::to_string(100 + rank) + ":" + std::to_string(100 + rank) + " [" +
                           std::to_string(rank % 2) + "] NCCL INFO ";
  const std::string comm = "ncclCommInitRank comm 0x" + std::to_string(10 + rank) + " rank " + r +
                           " nranks " + std::to_string(size) + " cudaDev " +
                           std::to_string(rank % 2) + " nvmlDev 0 busId " +
                           std::to_string(1 + rank % 2) + "000 commId 0x" + id + " - Init ";
  return head + comm + "START\n" + (complete ? head + comm + "COMPLETE\n" : "");
}

std::string start(int size, const std::string& id = "abc") {
  std::string out;
  for (int rank = 0; rank < size; ++rank) out += init(rank, size, id);
  return out;
}

std::string timeout(int rank, int number,
                    const std::string& op = "ALLREDUCE, NumelIn=8, NumelOut=8",
                    const std::string& group = "0(default_pg)", int completed = -1) {
  const auto r = std::to_string(rank);
  const auto n = std::to_string(number);
  return "[rank" + r + "]:[E1127 21:52:45.9 ProcessGroupNCCL.cpp:1] [Rank " + r +
         "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" + n + ", OpType=" + op +
         ", Timeout(ms)=1000) ran for 1000 milliseconds before timing out.\n" + "[rank" + r +
         "]:[E1127 21:52:45.9 ProcessGroupNCCL.cpp:2] [PG ID 0 PG GUID " + group + " Rank " + r +
         "]  failure detected by watchdog at work sequence id: " + n +
         " PG status: last enqueued work: " + n +
         ", last completed work: " + std::to_string(completed < 0 ? number - 1 : completed) + "\n";
}

std::string status(int rank, int enqueued, int completed) {
  const auto r = std::to_string(rank);
  return "[rank" + r +
         "]:[E1127 21:52:52.6 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank " + r +
         "] Received a dump signal due to a collective timeout from  rank 0 and we will try our "
         "best to dump the debug info. Last enqueued NCCL work: " +
         std::to_string(enqueued) + ", last completed NCCL work: " + std::to_string(completed) +
         ".\n";
}

TEST(Verdict, BlamesTheRankThatNeverCalledWhatOthersWaitIn) {
  const auto verdict =
      judge_text(start(4) + timeout(0, 7) + timeout(1, 7) + timeout(3, 7) + status(2, 6, 6));
  EXPECT_EQ(said(verdict), "missing-rank 2 certain");
  EXPECT_EQ(verdict.hosts, std::vector<std::string>{"node-b"});
}

TEST(Verdict, BlamesTheSilentRankLessSurely) {
  EXPECT_EQ(said(judge_text(start(4) + timeout(0, 7) + timeout(1, 7) + timeout(3, 7))),
            "missing-rank 2 likely");
}

TEST(Verdict, BlamesNobodyWhereAllWaitAlike) {
  const auto verdict = judge_text(start(2) + timeout(0, 7) + timeout(1, 7));
  EXPECT_EQ(said(verdict), "unknown unknown");
  EXPECT_NE(verdict.summary.find("all 2 ranks"), std::string::npos);
}

TEST(Verdict, FollowsARankThatWaitsItselfInAnotherGroup) {
  // Rank 1 is late in group 0 because it waits in group 5, where rank 3 is late.
  const auto verdict =
      judge_text(start(4) + timeout(0, 7) + timeout(2, 7) + status(1, 6, 6) + status(3, 6, 6) +
                 timeout(1, 4, "ALLREDUCE, NumelIn=8, NumelOut=8", "5") +
                 "[rank3]:[E1127 21:52:52.6 x] [PG ID 1 PG GUID 5 Rank 3] Received a dump signal. "
                 "Last enqueued NCCL work: 3, last completed NCCL work: 3.\n");
  EXPECT_EQ(said(verdict), "missing-rank 3 certain") << verdict.summary;
}

TEST(Verdict, BlamesAnOddCallByItsKindOrItsSize) {
  EXPECT_EQ(said(judge_text(start(4) + timeout(0, 7) +
                            timeout(1, 7, "ALLGATHER, NumelIn=8, NumelOut=32") + timeout(2, 7) +
                            timeout(3, 7))),
            "collective-mismatch 1 certain");
  EXPECT_EQ(said(judge_text(start(2) + timeout(0, 7) +
                            timeout(1, 7, "ALLREDUCE, NumelIn=9, NumelOut=9"))),
            "collective-mismatch 0 1 certain");
}

TEST(Verdict, BlamesARanksOwnExceptionBeforeThoseWhoWaitedForIt) {
  const auto verdict =
      judge_text(start(4) +
                 "[rank2]: Traceback (most recent call last):\n[rank2]:   File \"train.py\", line "
                 "9, in <module>\n[rank2]: ValueError: bad batch\n" +
                 timeout(0, 7) + timeout(1, 7) + timeout(3, 7));
  EXPECT_EQ(said(verdict), "user-code 2 certain") << verdict.summary;
}

TEST(Verdict, ReadsATracebackBehindALoggersFront) {
  const std::string front = "(VllmWorker rank=1 pid=958) ERROR 11-27 21:52:4";
  EXPECT_EQ(said(judge_text(front + "5 [x.py:470] Traceback (most recent call last):\n" + front +
                            "5 [x.py:470]   File \"w.py\", line 446, in main\n" + front +
                            "6 [x.py:470] ValueError: no blocks\n")),
            "user-code 1 likely");
}

TEST(Verdict, LendsAnExceptionTheRankThatTheLauncherSawLeaveFirst) {
  const auto verdict = judge_text(
      "Traceback (most recent call last):\n  File \"train.py\", line 3\nKeyError: 'tokens'\n"
      "Root Cause (first observed failure):\n[0]:\n  host      : node-7\n  rank      : 10 "
      "(local_rank: 2)\n"
      "  exitcode  : 1 (pid: 1739)\n");
  EXPECT_EQ(said(verdict), "user-code 10 likely");
  EXPECT_EQ(verdict.hosts, std::vector<std::string>{"node-7"});
}

TEST(Verdict, IsNotMovedByTextThatTalksOfErrors) {
  const auto verdict = judge_text(
      "If NCCL reports \"NCCL WARN Call to posix_fallocate failed : No space left on device\", "
      "raise "
      "--shm-size.\nWatchdog timeouts (Watchdog caught collective operation timeout) mean that a "
      "rank "
      "is missing.\nRuntimeError: CUDA error messages are explained below.\nAn Xid 79 means that "
      "the "
      "GPU has fallen off the bus. CUDA out of memory: lower the batch.\nexitcode -9 is "
      "SIGKILL.\n");
  EXPECT_EQ(said(verdict), "unknown unknown") << verdict.summary;
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(Verdict, NeverBlamesWhatOnlyFollows) {
  const auto verdict =
      judge_text(start(4) +
                 "node-a:100:120 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed "
                 "by remote peer node-b<4711>\n"
                 "node-a:101:121 [1] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from "
                 "peer 192.0.2.9<1> with status=5 opcode=0 len=0 vendor err 249 (Recv)\n"
                 "[rank0]: Traceback (most recent call last):\n[rank0]: "
                 "torch.distributed.DistBackendError: NCCL error in: x.cpp:1, remote process "
                 "exited or there was a network error, NCCL version 2.21.5\n");
  EXPECT_EQ(said(verdict), "unknown unknown") << verdict.summary;
}

TEST(Verdict, BlamesTheKilledRankBeforeTheLinkErrorsOfItsNeighbours) {
  const auto verdict =
      judge_text(start(4) +
                 "step 1\n"
                 "node-a:100:120 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from "
                 "peer 192.0.2.9<1> with status=12 opcode=0 len=0 vendor err 129 (Recv)\n"
                 "Root Cause (first observed failure):\n[0]:\n  host      : localhost\n  rank      "
                 ": 3 (local_rank: 1)\n  exitcode  : -9 (pid: 103)\n");
  EXPECT_EQ(said(verdict), "dead-rank 3 certain");
  EXPECT_EQ(verdict.hosts, std::vector<std::string>{"node-b"});
}

TEST(Verdict, BlamesMemoryWhereTheKernelSaysThatItKilledThatProcess) {
  Facts facts;
  read_text(facts, "log",
            start(4) +
                "E1127 21:53:43.0 1658 torch/x.py:986] failed (exitcode: -9) local_rank: 1 (pid: "
                "103) of binary: python3\n");
  read_text(facts, "dmesg",
            "[  123.456789] Out of memory: Killed process 103 (python3) total-vm:1kB, "
            "anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n");
  EXPECT_EQ(said(judge(facts).front()), "oom 3 certain");
}

TEST(Verdict, DoesNotBlameMemoryForAProcessThatIsNoneOfTheJobs) {
  const std::string kill =
      "[  123.456789] Out of memory: Killed process 999 (other) total-vm:1kB, anon-rss:1kB, "
      "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n";
  Facts facts;
  read_text(facts, "log", start(4) + timeout(0, 7) + timeout(1, 7) + timeout(3, 7));
  read_text(facts, "dmesg", kill);
  EXPECT_EQ(said(judge(facts).front()), "missing-rank 2 likely");
  Facts killed;  // in a container, where process ids are others
  read_text(killed, "log",
            start(4) +
                "E1127 21:53:43.0 1658 torch/x.py:986] failed (exitcode: -9) local_rank: 1 (pid: "
                "103) of binary: python3\n");
  read_text(killed, "dmesg", kill);
  EXPECT_EQ(said(judge(killed).front()), "oom 3 likely");
}

TEST(Verdict, ReadsHowOtherLaunchersSayThatARankEnded) {
  EXPECT_EQ(said(judge_text(start(4) + "  Process name: [[4711,1],2]\n  Exit code:    7\n")),
            "dead-rank 2 possible");
  EXPECT_EQ(said(judge_text(start(4) + "=   PID 102 RUNNING AT node-b\n=   EXIT CODE: 9\n")),
            "dead-rank 2 certain");
  EXPECT_EQ(said(judge_text(start(4) + "mpirun noticed that process rank 1 with PID 101 on node "
                                       "node-a exited on signal 11 (Segmentation fault).\n")),
            "dead-rank 1 certain");
  EXPECT_EQ(
      said(judge_text(
          "[ERROR] [launch.py:321:sigkill_handler] ['python'] exits with return code = -9\n")),
      "dead-rank likely");
}

TEST(Verdict, NamesTheHostThatSeveralOthersComplainOf) {
  const auto verdict =
      judge_text(start(6) +
                 "step 1\nnode-c:104:104 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.9<0>\n"
                 "node-a:100:120 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from "
                 "peer 192.0.2.9<1> with status=12 opcode=0 len=0 vendor err 129 (Recv)\n"
                 "node-b:102:120 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from "
                 "peer 192.0.2.9<1> with status=12 opcode=0 len=0 vendor err 129 (Recv)\n");
  EXPECT_EQ(said(verdict), "ib-transport 0 2 likely");
  EXPECT_EQ(verdict.hosts, (std::vector<std::string>{"node-a", "node-b", "node-c"}));
  EXPECT_NE(verdict.summary.find("the other side is node-c"), std::string::npos) << verdict.summary;
}

TEST(Verdict, BlamesTheCardOfTheRankThatTheKernelNames) {
  Facts facts;
  read_text(facts, "log", start(2) + timeout(0, 7));
  read_text(facts, "dmesg",
            "[  123.456789] NVRM: Xid (PCI:0000:02:00): 79, pid=1, name=x, GPU has fallen off the "
            "bus.\n");
  EXPECT_EQ(said(judge(facts).front()), "cuda-error-or-xid 1 likely");
  Facts other;  // a card that this job does not use
  read_text(other, "log", start(2) + timeout(0, 7));
  read_text(other, "dmesg",
            "[  123.456789] NVRM: Xid (PCI:0000:77:00): 79, pid=1, name=x, GPU has fallen off the "
            "bus.\n");
  EXPECT_EQ(said(judge(other).front()), "missing-rank 1 likely");
}

TEST(Verdict, BlamesTheTaskThatSlurmSawDie) {
  const auto verdict = judge_text(
      start(4) +
      "srun: error: node-b: task 2: Segmentation fault\nsrun: error: node-a: task 0: Terminated\n");
  EXPECT_EQ(said(verdict), "dead-rank 2 certain");
}

TEST(Verdict, BlamesTheFirstOfTwoCausesByTheirTimes) {
  Facts facts;
  read_text(
      facts, "b.log",
      "[2026-03-13 22:30:00] node-b:102:1 [0] a.cc:1 NCCL WARN Cuda failure 'out of memory'\n");
  read_text(facts, "a.log",
            "[2026-03-13 22:26:02] node-a:100:1 [0] a.cc:1 NCCL WARN Cuda failure 700 'an illegal "
            "memory access was encountered'\n");
  const auto verdict = judge(facts).front();
  EXPECT_EQ(to_string(verdict.verdict), std::string("cuda-error-or-xid"));
  EXPECT_EQ(verdict.hosts, std::vector<std::string>{"node-a"});
}

TEST(Verdict, CallsAStartThatNeverEndsByTheRankThatNeverCame) {
  std::string text;
  for (int rank = 0; rank < 3; ++rank) text += init(rank, 4, "abc", false);
  EXPECT_EQ(said(judge_text(text)), "missing-rank 3 possible");
}

TEST(Verdict, NamesSettingsAndVersionsThatDifferBetweenRanks) {
  const auto verdict =
      judge_text(start(2) +
                 "node-a:100:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring\nnode-a:101:1 "
                 "[1] NCCL INFO NCCL_ALGO set by environment to Tree.\n"
                 "node-a:100:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\nnode-a:101:1 [1] NCCL "
                 "INFO NCCL version 2.20.5+cuda12.4\n"
                 "node-a:100:1 [0] bootstrap.cc:1 NCCL WARN Message truncated : received 1024 "
                 "bytes instead of 256\n");
  EXPECT_EQ(said(verdict), "version-mismatch 0 certain");
  std::string rules;
  for (const auto& finding : verdict.findings) rules += finding.rule + ' ';
  EXPECT_NE(rules.find("nccl-environment-differs"), std::string::npos) << rules;
  EXPECT_NE(rules.find("nccl-version-differs"), std::string::npos) << rules;
}

TEST(Verdict, IsHealthyOnlyWhereSomethingShowsThatAllWentOn) {
  EXPECT_EQ(said(judge_text(start(2) + "step 1 loss 2.5\n")), "healthy likely");
  EXPECT_EQ(said(judge_text(start(2))), "unknown unknown");
  EXPECT_EQ(said(judge_text("")), "unknown unknown");
  EXPECT_EQ(said(judge_text(start(2) + "step 1\n# docs: CUDA out of memory means that the GPU is "
                                       "full; NCCL WARN lines tell more\n")),
            "healthy likely");
}

TEST(Verdict, OfRasInJsonBlamesTheLowestCountAndTheProcessThatIsGone) {
  const auto rank = [](int number, int count) {
    return "{\"rank\":" + std::to_string(number) +
           ",\"host\":\"192.0.2.2\",\"pid\":9,\"status\":{\"async_error\":0},\"collective_counts\":"
           "{\"AllReduce\":" +
           std::to_string(count) + "}}";
  };
  const auto answer = [](const std::string& ranks, const std::string& missing) {
    return "{\n  \"nccl_version\": \"2.28.9\", \"communicators\": "
           "[{\"hash\":\"0xabc\",\"size\":3,\"ranks\":[" +
           ranks + "],\"missing_ranks\":[" + missing + "]}]\n}\n";
  };
  EXPECT_EQ(said(judge_text(answer(rank(0, 5) + "," + rank(1, 4) + "," + rank(2, 5), ""))),
            "missing-rank 1 possible")
      << "a rank that is late for a moment looks the same";
  EXPECT_EQ(said(judge_text(answer(rank(0, 5) + "," + rank(1, 5) + "," + rank(2, 5), ""))),
            "unknown unknown");
  EXPECT_EQ(said(judge_text(answer(rank(0, 5) + "," + rank(1, 5),
                                   "{\"rank\":2,\"host\":\"192.0.2.3\",\"pid\":8}"))),
            "dead-rank 2 likely");
}

TEST(Verdict, OfTwoRasAnswersTellsAJobThatGoesOnFromOneThatStands) {
  const auto answer = [](int first, int second) {
    const auto rank = [](int number, int count) {
      return "{\"rank\":" + std::to_string(number) +
             ",\"collective_counts\":{\"AllReduce\":" + std::to_string(count) + "}}";
    };
    return "{\n\"communicators\": [{\"hash\":\"0xabc\",\"size\":2,\"ranks\":[" + rank(0, first) +
           "," + rank(1, second) + "]}]\n}\n";
  };
  EXPECT_EQ(said(judge_text(answer(5, 4) + answer(9, 8))), "healthy likely");
  EXPECT_EQ(said(judge_text(answer(5, 4) + answer(5, 4))), "missing-rank 1 likely");
  EXPECT_EQ(said(judge_text(answer(5, 5) + answer(5, 5))), "unknown unknown");
}

TEST(Verdict, OfTwoGroupsOfRasWhoseRanksWaitForEachOtherBlamesNeither) {
  const auto group = [](const std::string& hash, int first, int second) {
    return fmt::format(
        R"({{"hash":"{}","size":2,"ranks":[{{"rank":0,"collective_counts":{{"AllReduce":{}}}}},)"
        R"({{"rank":1,"collective_counts":{{"AllReduce":{}}}}}]}})",
        hash, first, second);
  };
  const auto answer = [&](int a, int b) {
    return "{\n\"communicators\": [" + group("0xa", a, b) + "," + group("0xb", b, a) + "]\n}\n";
  };
  EXPECT_EQ(said(judge_text(answer(1, 2))), "collective-mismatch 0 1 possible");
  EXPECT_EQ(said(judge_text(answer(1, 2) + answer(1, 2))), "collective-mismatch 0 1 likely");
  EXPECT_EQ(said(judge_text(answer(1, 2) + answer(3, 4))), "healthy likely");
}

TEST(Verdict, GroupsLogsWithoutCommunicatorsByTheFolderOfTheirJob) {
  Facts facts;
  for (int rank = 0; rank < 3; ++rank) {
    read_text(facts, "a/attempt_0/" + std::to_string(rank) + "/stderr.log", timeout(rank, 7));
  }
  read_text(facts, "a/attempt_0/3/stderr.log", status(3, 6, 6));
  read_text(facts, "b/rank_0/err", timeout(0, 9));
  read_text(facts, "b/rank_1/err", timeout(1, 9, "ALLREDUCE, NumelIn=9, NumelOut=9"));
  read_text(facts, "c/log", start(2) + "step 1\n");
  const auto verdicts = judge(facts);
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_EQ(said(verdicts[0]), "healthy likely");
  EXPECT_EQ(said(verdicts[1]), "missing-rank 3 certain");
  EXPECT_EQ(said(verdicts[2]), "collective-mismatch 0 1 certain");
}

TEST(Verdict, OfACallLogBlamesTheRankWhoseCallDiffers) {
  std::string text = start(4);
  for (int call = 1; call < 6; ++call) {
    for (int rank = 0; rank < 4; ++rank) {
      const std::string count = rank == 2 && call == 4 ? "99" : "512";
      text += "node-" + std::string(1, static_cast<char>('a' + rank / 2)) + ":" +
              std::to_string(100 + rank) + ":1 [0] NCCL INFO AllReduce: opCount " +
              std::to_string(call) + " sendbuff 0x1 recvbuff 0x2 count " + count +
              " datatype 7 op 0 root 0 comm 0x" + std::to_string(10 + rank) +
              " [nranks=4] stream 0x1\n";
    }
  }
  EXPECT_EQ(said(judge_text(text)), "collective-mismatch 2 likely");
}

TEST(Verdict, IsWrittenAsOneObjectWithTheKeysOfTheContract) {
  const auto verdict = judge_text(start(2) +
                                  "node-a:100:1 [0] include/shm.h:28 NCCL WARN Call to "
                                  "posix_fallocate failed : No space left on device\n");
  const auto json = verdicts_json(std::vector<Verdict>{verdict});
  EXPECT_TRUE(json.starts_with(
      R"({"schema":"stoker.dev/v1/verdict","verdicts":[{"class":"shm","ranks":[0],"hosts":["node-a"],"confidence":"certain","summary":)"))
      << json;
  for (const auto* key : {"\"next_step\":", "\"findings\":[{\"rule\":\"nccl-shm_full\"",
                          "\"evidence\":[\"log:5: node-a"}) {
    EXPECT_NE(json.find(key), std::string::npos) << key << json;
  }
  const auto text = verdicts_text(std::vector<Verdict>{verdict}, {});
  EXPECT_TRUE(text.starts_with("shm (certain)  rank 0  on node-a\n")) << text;
}

TEST(Verdict, DoesNotTakeTheRankThatWaitsForOthersForTheMissingOne) {
  const auto verdict = judge_text(
      "[rank0]: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for "
      "clients. 1/2 clients joined.\n");
  EXPECT_EQ(said(verdict), "missing-rank likely");
  EXPECT_TRUE(verdict.hosts.empty());
}

TEST(Verdict, ForgetsThatRanksWaitedAtTheFirstBarrierOnceAllStarted) {
  const std::string waiting =
      "Waiting in store based barrier to initialize process group for rank: 1, key: "
      "store_based_barrier_key:1 (world_size=2, worker_count=1, timeout=0:30:00)\n";
  EXPECT_EQ(said(judge_text(waiting)), "missing-rank 0 likely");
  EXPECT_EQ(said(judge_text(waiting + start(2) + "step 1 loss 2.5\n")), "healthy likely");
}

TEST(Verdict, ReadsATracebackInTorchrunsTableAsOneOfItsRow) {
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  time      : 2025-03-11_18:33:20\n"
      "  host      : node-a\n  rank      : 3 (local_rank: 3)\n  exitcode  : 1 (pid: 340055)\n"
      "  error_file: /tmp/error.json\n";
  const std::string traceback =
      "  traceback : Traceback (most recent call last):\n    File \"train.py\", line 16, in main\n"
      "      step()\n  ValueError: batch is empty\n====\n";
  EXPECT_EQ(said(judge_text(table + traceback)), "user-code 3 likely");
  // Cut off within it, the row alone is left.
  EXPECT_EQ(said(judge_text(table + traceback.substr(0, 60))), "dead-rank 3 possible");
}

TEST(Verdict, SaysOfHowManyRanksTheStartIsSeen) {
  const auto verdict = judge_text(init(3, 4, "abc") + "step 1 loss 2.5\n");
  EXPECT_EQ(said(verdict), "unknown unknown");
  EXPECT_TRUE(verdict.summary.starts_with("1 of 4 ranks started and went on")) << verdict.summary;
}

TEST(Verdict, TellsCudasErrorsOfTheProgramFromThoseOfTheGpu) {
  const auto of = [](const std::string& message) {
    return said(
        judge_text("[rank2]: Traceback (most recent call last):\n[rank2]:   File "
                   "\"train.py\", line 3, in main\n[rank2]: RuntimeError: " +
                   message + "\n"));
  };
  EXPECT_EQ(of("CUDA error: invalid device ordinal"), "user-code 2 likely");
  EXPECT_EQ(of("CUDA error: all CUDA-capable devices are busy or unavailable"),
            "driver-or-container 2 likely");
  EXPECT_EQ(of("CUDA error: no kernel image is available for execution on the device"),
            "driver-or-container 2 likely");
  EXPECT_EQ(of("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
            "oom 2 likely");
  EXPECT_EQ(of("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`"),
            "cuda-error-or-xid 2 possible");
  EXPECT_EQ(of("CUDA driver error: system not yet initialized"), "nvls-or-fabricmanager 2 likely");
  EXPECT_EQ(of("CUDA error: an illegal memory access was encountered"),
            "cuda-error-or-xid 2 likely");
}

TEST(Verdict, NamesAllTasksThatSrunNamesInOneLine) {
  const std::string after = "srun: error: node-b: task 14: Exited with exit code 1\n";
  EXPECT_EQ(said(judge_text("srun: error: node-a: tasks 2-4,7: Exited with exit code 1\n" + after)),
            "dead-rank 2 3 4 7 possible");
  // Killed all together they were by the step's end.
  EXPECT_EQ(said(judge_text("srun: error: node-a: tasks 2-4: Killed\n" + after)),
            "dead-rank 14 possible");
  EXPECT_EQ(said(judge_text("srun: error: node-a: tasks 9-2,x: Exited with exit code 1\n")),
            "unknown unknown");
}

TEST(Verdict, TakesWhatOnlyTellsOfAWaitForNoCause) {
  for (const std::string line :
       {"TimeoutError: RPC call to execute_model timed out.",
        "Exception: Capture cuda graph failed: [gloo/transport/tcp/pair.cc:534] Connection closed",
        "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: NCCL operation ncclAllReduce failed",
        "torch.distributed.elastic.rendezvous.api.RendezvousClosedError"}) {
    EXPECT_EQ(
        said(judge_text("Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n" +
                        line + "\n")),
        "unknown unknown")
        << line;
  }
}

}  // namespace
}  // namespace stoker::nccl
