#include "os/process_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "os/system_env.h"
#include "os/user_names.h"

namespace stoker::os {
namespace {

namespace fs = std::filesystem;

// Values as proc(5) shows them; the name of a process may contain anything.
std::string stat_line(std::uint32_t pid, std::uint64_t start_ticks, char state = 'S') {
  return std::to_string(pid) + " (py) thon) " + state +
         " 1 4711 4711 0 -1 4194304 1 0 0 0 2 3 0 0 20 0 5 0 " + std::to_string(start_ticks) +
         " 1000 200 18446744073709551615\n";
}

class ProcessFactsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stoker-proc-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directories(folder_ / "host/proc");
    fs::create_directories(folder_ / "devices");
    env_ = make_system_env((folder_ / "host").string(), (folder_ / "devices").string());
  }
  void TearDown() override { fs::remove_all(folder_); }

  void put(const std::string& path, std::string_view content) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << content;
  }
  void put_process(const std::string& proc, char state = 'S') const {
    put(proc + "/4711/stat", stat_line(4711, 250, state));
    put(proc + "/4711/status",
        "Name:\tpython3\nState:\tS "
        "(sleeping)\nPid:\t4711\nUid:\t1000\t1001\t1000\t1000\nGid:\t1\n");
    put(proc + "/4711/cgroup", "0::/slurm/uid_1001/job_7/step_0\n");
  }

  fs::path folder_;
  std::unique_ptr<Env> env_;
  const ProcessId id_{.pid = 4711, .start_ticks = 250};
};

constexpr std::array<std::string_view, 2> wanted = {"SLURM_JOB_ID", "SLURM_JOB_NAME"};

TEST_F(ProcessFactsTest, UserStartAndCgroupAreReadAsTheKernelWritesThem) {
  put_process("host/proc");
  const auto facts = read_process(*env_, 4711);
  ASSERT_TRUE(facts) << facts.error().describe();
  EXPECT_EQ(facts->id, id_);
  EXPECT_EQ(facts->uid, 1001U) << "the effective one";
  EXPECT_EQ(facts->cgroup, "0::/slurm/uid_1001/job_7/step_0\n");
  const auto gone = read_process(*env_, 4712);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), ErrorCode::not_found);
}

TEST_F(ProcessFactsTest, WhatCannotBeReadIsLeftOut) {
  put("host/proc/4711/stat", stat_line(4711, 250));
  const auto facts = read_process(*env_, 4711);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->uid, std::nullopt);
  EXPECT_EQ(facts->cgroup, "");
  put("host/proc/4711/stat", "4711 (x) S 1");
  EXPECT_EQ(read_process(*env_, 4711).error().code(), ErrorCode::corrupt);
}

TEST_F(ProcessFactsTest, OnlyTheVariablesAskedForLeaveTheEnvironment) {
  put_process("host/proc");
  std::string environment = "AWS_SECRET_ACCESS_KEY=do-not-tell";
  environment += '\0';
  environment += "HUGE=" + std::string(100'000, 'x');
  environment += '\0';
  environment += "SLURM_JOB_ID=4711";
  environment += '\0';
  environment += "SLURM_JOB_NAME=" + std::string(5'000, 'y');
  environment += '\0';
  environment += "no equals sign";
  put("host/proc/4711/environ", environment);
  const auto found = read_environment(*env_, id_, wanted);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::map<std::string, std::string>{{"SLURM_JOB_ID", "4711"}}))
      << "and no name of five thousand letters";
}

TEST_F(ProcessFactsTest, AStarAsksForAllVariablesThatBeginSo) {
  put_process("host/proc");
  std::string environment = "NCCL_DEBUG=INFO";
  environment += '\0';
  environment += "NCCLX=1";
  environment += '\0';
  environment += "AWS_SECRET_ACCESS_KEY=do-not-tell";
  put("host/proc/4711/environ", environment);
  constexpr std::array<std::string_view, 1> family = {"NCCL_*"};
  const auto found = read_environment(*env_, id_, family);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::map<std::string, std::string>{{"NCCL_DEBUG", "INFO"}}));
}

TEST_F(ProcessFactsTest, AnEnvironmentOfAnotherProcessWithThePidIsNeverRead) {
  put_process("host/proc");
  put("host/proc/4711/environ", "SLURM_JOB_ID=4711");
  const auto found = read_environment(*env_, {.pid = 4711, .start_ticks = 249}, wanted);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::not_found);
}

// Its memory may be locked while the driver holds it in the kernel; reading would wait with it.
TEST_F(ProcessFactsTest, TheMemoryOfAProcessInStateDIsLeftAlone) {
  put_process("host/proc", 'D');
  put("host/proc/4711/environ", "SLURM_JOB_ID=4711");
  const auto found = read_environment(*env_, id_, wanted);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::unavailable);
}

TEST_F(ProcessFactsTest, ProcessesThatLinuxCannotHaveAreTheSimulatedNodes) {
  const std::string pid = "4194305";
  put("host/proc/" + pid + "/stat", stat_line(4194305, 1));
  put("devices/proc/" + pid + "/stat", stat_line(4194305, 2));
  put("host/proc/4194304/stat", stat_line(4194304, 3));
  put("devices/proc/4194304/stat", stat_line(4194304, 4));
  EXPECT_EQ(read_process(*env_, 4194305)->id.start_ticks, 2U);
  EXPECT_EQ(read_process(*env_, 4194304)->id.start_ticks, 3U);
}

TEST_F(ProcessFactsTest, StartTimesBecomeMomentsOfOurClockAndNeverTooEarly) {
  put("host/proc/uptime", "1000.50 3000.00\n");
  const std::uint64_t hz = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const MonotonicTime before = env_->clock().monotonic();
  const auto ten_seconds_ago = latest_start(*env_, 990 * hz + hz / 2);
  const MonotonicTime after = env_->clock().monotonic();
  ASSERT_TRUE(ten_seconds_ago);
  EXPECT_GT(*ten_seconds_ago, before + Nanoseconds(Seconds(-10)));
  EXPECT_LE(*ten_seconds_ago, after + Nanoseconds(Milliseconds(-9900)));
  EXPECT_FALSE(latest_start(*env_, ~std::uint64_t{0}));
  put("host/proc/uptime", "soon");
  EXPECT_FALSE(latest_start(*env_, 1));
}

TEST_F(ProcessFactsTest, KnowsTheMachinesPidNamespaceByItsInode) {
  fs::create_directories(folder_ / "host/proc/77/ns");
  fs::create_symlink("77", folder_ / "host/proc/self");
  fs::create_symlink("pid:[4026532201]", folder_ / "host/proc/77/ns/pid");
  EXPECT_FALSE(shows_host_pids(*env_)) << "a container's";
  fs::create_directories(folder_ / "host/proc/1/ns");
  fs::create_symlink("pid:[4026531836]", folder_ / "host/proc/1/ns/pid");
  EXPECT_TRUE(shows_host_pids(*env_)) << "the host's /proc, mounted into a container";
  fs::remove(folder_ / "host/proc/1/ns/pid");
  fs::remove(folder_ / "host/proc/77/ns/pid");
  EXPECT_FALSE(shows_host_pids(*env_)) << "nothing told is not yes";
  fs::create_symlink("pid:[4026531836]", folder_ / "host/proc/77/ns/pid");
  EXPECT_TRUE(shows_host_pids(*env_));
}

TEST_F(ProcessFactsTest, UsersBelowAnotherRootAreNamedByItsAccountsAlone) {
  put("host/etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:1001:1001:Ada:/home/ada:/bin/sh\nbad\n");
  UserNames names(*env_);
  EXPECT_EQ(names.name_of(1001), "ada");
  EXPECT_EQ(names.name_of(1002), "");
  fs::remove(folder_ / "host/etc/passwd");
  EXPECT_EQ(names.name_of(1001), "ada") << "known already";
  EXPECT_EQ(names.name_of(0), "");
}

TEST(ProcessFacts, ThisProcessIsReadFromTheRealKernel) {
  const auto env = make_system_env();
  const auto facts = read_process(*env, static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(facts) << facts.error().describe();
  EXPECT_EQ(facts->uid, ::geteuid());
  EXPECT_FALSE(facts->cgroup.empty());
  const auto start = latest_start(*env, facts->id.start_ticks);
  ASSERT_TRUE(start);
  EXPECT_LE(*start, env->clock().monotonic() + Nanoseconds(Milliseconds(20)));
  constexpr std::array<std::string_view, 1> path = {"PATH"};
  const auto found = read_environment(*env, facts->id, path);
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->count("PATH"), 1U);
  EXPECT_EQ(UserNames(*env).name_of(4'000'000'000U), "") << "nobody has this number";
}

}  // namespace
}  // namespace stoker::os
