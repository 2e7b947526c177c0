// An Xid of a card of the job, at several times before and during it. The lines of NCCL and of the kernel are those of
// tests/fixtures/captures and of NVRM, with torchrun's first line in front, which has a time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "nccl/nccl_test_support.h"

namespace stoker::nccl {
namespace {

Verdict with_xid_at(const std::string& time, const std::string& first_line,
                    const std::string& pid = "") {
  Facts facts;
  std::string log = first_line;
  for (int rank = 0; rank < 2; ++rank) {
    for (const auto* what : {"START", "COMPLETE"})
      log += fmt::format(
          "node-a:{0}:{0} [{1}] NCCL INFO ncclCommInitRank comm 0x55 rank {1} nranks 2 cudaDev {1} "
          "nvmlDev {1} busId "
          "{2}000 commId 0xd94ee3f5c044281 - Init {3}\n",
          700 + rank, rank, rank + 1, what);
  }
  read_text(facts, "job.log", log);
  read_text(facts, "kernel.log",
            fmt::format(
                "{} node-a kernel: NVRM: Xid (PCI:0000:02:00): 79, {}GPU has fallen off the bus.\n",
                time, pid.empty() ? "" : "pid=" + pid + ", name=python3, "));
  const auto verdicts = judge(facts);
  EXPECT_EQ(verdicts.size(), 1U);
  return verdicts.front();
}

const std::string torchruns_line = "W1127 21:50:00.123000 650 torch/distributed/run.py:851] \n";

TEST(KernelTime, BlamesTheCardForWhatItSaidDuringTheJob) {
  EXPECT_EQ(said(with_xid_at("2026-11-27T21:55:00.000000+00:00", torchruns_line)),
            "cuda-error-or-xid 1 likely");
}

TEST(KernelTime, DoesNotBlameACardForWhatItSaidDaysBefore) {
  const auto verdict = with_xid_at("2026-11-25T21:55:00.000000+00:00", torchruns_line);
  EXPECT_NE(verdict.verdict, Class::cuda_error_or_xid) << verdict.summary;
  ASSERT_FALSE(verdict.findings.empty());
  EXPECT_NE(
      verdict.findings.back().message.find("48 hours before the job's first line: not its cause"),
      std::string::npos)
      << verdict.findings.back().message;
}

TEST(KernelTime, BlamesItLessSurelyForHoursBefore) {
  const auto verdict = with_xid_at("2026-11-27T13:50:00.000000+00:00", torchruns_line);
  EXPECT_EQ(said(verdict), "cuda-error-or-xid 1 possible") << verdict.summary;
  EXPECT_NE(verdict.summary.find("if both logs are of one zone"), std::string::npos)
      << verdict.summary;
}

TEST(KernelTime, BelievesTheProcessThatTheKernelNamesBeforeTheClocks) {
  EXPECT_EQ(said(with_xid_at("2026-11-27T13:50:00.000000+00:00", torchruns_line, "701")),
            "cuda-error-or-xid 1 certain");
}

TEST(KernelTime, ComparesNothingWhereTheJobDoesNotSayWhenItBegan) {
  EXPECT_EQ(said(with_xid_at("2026-11-25T21:55:00.000000+00:00", "")),
            "cuda-error-or-xid 1 likely");
  // Over a new year, days apart can't be told from a year apart.
  EXPECT_EQ(said(with_xid_at("2025-12-31T21:55:00.000000+00:00",
                             "W0101 00:50:00.123000 650 torch/distributed/run.py:851] \n")),
            "cuda-error-or-xid 1 likely");
}

}  // namespace
}  // namespace stoker::nccl
