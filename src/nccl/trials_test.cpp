#include "nccl/trials.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "nccl/nccl_test_support.h"

namespace stoker::nccl {
namespace {

// Two hosts whose path fails, as NVIDIA/nccl#426 shows it, behind the lines of their start.
std::string failing(const std::string& network, const std::string& environment = "") {
  std::string log;
  for (int rank = 0; rank < 2; ++rank) {
    const auto front = fmt::format("node-{0}:70{0}:70{0} [0] NCCL INFO ", rank);
    log += front + fmt::format("Bootstrap: Using eth{}:192.0.2.{}<0>\n", 2, rank + 1);
    if (!environment.empty()) log += front + environment + " set by environment to 1\n";
    log += front + fmt::format("Using network {}\n", network);
    for (const auto* what : {"START", "COMPLETE"})
      log += front + fmt::format(
                         "ncclCommInitRank comm 0x55 rank {} nranks 2 cudaDev 0 nvmlDev 0 busId "
                         "1000 commId 0xd9 - "
                         "Init {}\n",
                         rank, what);
  }
  return log +
         "node-1:701:709 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
         "192.0.2.1<4000> with "
         "status=12 opcode=0 len=0 vendor err 129 (Recv)\n";
}

TEST(Trials, GiveTheEnvironmentOfARunOverTcp) {
  const auto verdict = judge_text(failing("IB"));
  EXPECT_EQ(verdict.verdict, Class::ib_transport) << verdict.summary;
  EXPECT_NE(verdict.next_step.find("all else alike: NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME=eth2;"),
            std::string::npos)
      << verdict.next_step;
  EXPECT_EQ(verdict.next_step.find("SHARP"), std::string::npos);
}

TEST(Trials, SwitchOffThePluginThatTheJobUses) {
  EXPECT_NE(
      judge_text(failing("IBext_v8")).next_step.find("NCCL_IB_DISABLE=1 NCCL_IBEXT_DISABLE=1 "),
      std::string::npos);
  EXPECT_NE(judge_text(failing("AWS Libfabric"))
                .next_step.find("NCCL_IB_DISABLE=1 NCCL_NET_PLUGIN=none "),
            std::string::npos);
}

TEST(Trials, SayWhatSharpNeedsWhereItWasAskedFor) {
  const auto verdict = judge_text(failing("IB", "NCCL_COLLNET_ENABLE"));
  EXPECT_NE(verdict.next_step.find("run it once with NCCL_COLLNET_ENABLE=0;"), std::string::npos)
      << verdict.next_step;
  EXPECT_NE(verdict.next_step.find("sharp_am"), std::string::npos);
}

TEST(Trials, AreNoneOverTcpAndNoneWhereTheCauseIsElsewhere) {
  EXPECT_EQ(judge_text(failing("Socket")).next_step.find("NCCL_IB_DISABLE"), std::string::npos);
  const auto shm = judge_text(
      "node-0:700:700 [0] NCCL INFO Using network IB\n"
      "node-0:700:700 [0] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space "
      "left on device\n");
  EXPECT_EQ(shm.verdict, Class::shm);
  EXPECT_EQ(shm.next_step.find("NCCL_IB_DISABLE"), std::string::npos);
}

}  // namespace
}  // namespace stoker::nccl
