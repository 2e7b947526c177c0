// stoker nccl env, end to end: files, this environment, a running process, and what can't be read.
#include <gtest/gtest.h>

#include "support/stoker_process.h"

namespace stoker::test {
namespace {

TEST(NcclEnvVerb, SaysByItsExitCodeWhetherAnythingIsWorthAWarning) {
  const TempFolder folder;
  const auto good = folder.write("good.env", "NCCL_DEBUG=INFO\nNCCL_IB_TIMEOUT=22\n");
  const auto bad = folder.write("bad.env", "# job\nexport NCCL_IB_DISABLE=true\n");
  const auto of_good = run_stoker({"nccl", "env", good});
  EXPECT_EQ(of_good.status, 0) << of_good.err;
  EXPECT_NE(of_good.out.find("nccl-debug-info"), std::string::npos) << of_good.out;
  const auto of_bad = run_stoker({"nccl", "env", bad, "-o", "json"});
  EXPECT_EQ(of_bad.status, 1) << of_bad.err;
  EXPECT_NE(of_bad.out.find("\"line\": 2"), std::string::npos) << of_bad.out;
  EXPECT_NE(of_bad.out.find("\"column\": 8"), std::string::npos) << of_bad.out;
  EXPECT_EQ(run_stoker({"nccl", "env", bad, "/no/such/file"}).status, 2);
  EXPECT_EQ(run_stoker({"nccl", "env", good, "--nccl", "two"}).status, 2);
}

TEST(NcclEnvVerb, JudgesByTheReleaseAndTheNumberOfHosts) {
  const TempFolder folder;
  const auto file = folder.write("job.env", "NCCL_SOCKET_IFNAME=lo\nNCCL_RAS_ENABLE=0\n");
  EXPECT_EQ(run_stoker({"nccl", "env", file, "--hosts", "1"}).status, 0);
  const auto several = run_stoker({"nccl", "env", file, "--hosts", "2"});
  EXPECT_EQ(several.status, 1);
  EXPECT_NE(several.out.find("nccl-interface-local"), std::string::npos) << several.out;
  const auto old = run_stoker({"nccl", "env", file, "--hosts", "1", "--nccl", "2.20.5"});
  EXPECT_NE(old.out.find("nccl-not-yet"), std::string::npos) << old.out;
}

// sleep(1) with an environment of its own, for as long as this lives.
class Sleeper {
 public:
  explicit Sleeper(const char* variable) {
    const char* const arguments[] = {"sleep", "60", nullptr};
    const char* const environment[] = {variable, nullptr};
    EXPECT_EQ(::posix_spawnp(&pid_, "sleep", nullptr, nullptr, const_cast<char* const*>(arguments),
                             const_cast<char* const*>(environment)),
              0);
  }
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_ = 0;
};

TEST(NcclEnvVerb, ReadsARunningProcessAndSaysWhereThereIsNone) {
  const Sleeper sleeper("NCCL_SHM_DISABLE=1");
  const auto seen = run_stoker({"nccl", "env", "--pid", sleeper.pid()});
  EXPECT_EQ(seen.status, 1) << seen.err;
  EXPECT_NE(seen.out.find("NCCL_SHM_DISABLE=1"), std::string::npos) << seen.out;
  EXPECT_EQ(run_stoker({"nccl", "env", "--pid", "999999999"}).status, 2);
  EXPECT_EQ(run_stoker({"nccl", "env", "--slurm-job", "999999999"}).status, 2);
}

}  // namespace
}  // namespace stoker::test
