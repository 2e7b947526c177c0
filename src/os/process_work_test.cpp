#include "os/process_work.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "os/proc_stat.h"
#include "os/system_env.h"

namespace stoker::os {
namespace {

// A child that does `work` and then sleeps until it is ended.
class Child {
 public:
  template <typename Work>
  explicit Child(Work work) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      work();
      (void)!::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    (void)!::read(ready[0], &byte, 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] ProcessId id(const Env& env) const {
    const auto pid = static_cast<std::uint32_t>(pid_);
    return {.pid = pid, .start_ticks = read_stat(env, pid)->start_ticks};
  }

 private:
  pid_t pid_ = 0;
};

void use_cpu(std::chrono::milliseconds most) {
  timespec used{};
  do {
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec) < most);
}

void read_zeroes(std::size_t mebibytes) {
  std::ifstream zero("/dev/zero", std::ios::binary);
  std::string piece(1 << 20, ' ');
  for (std::size_t n = 0; n < mebibytes; ++n) {
    zero.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  }
}

class ProcessWorkTest : public testing::Test {
 protected:
  const std::unique_ptr<Env> env_ = make_system_env();
};

TEST_F(ProcessWorkTest, CountsCpuTimeAndWhatWasRead) {
  const Child child([] {
    use_cpu(std::chrono::milliseconds(200));
    read_zeroes(4);
  });
  const auto work = read_work(*env_, child.id(*env_));
  ASSERT_TRUE(work) << work.error().describe();
  EXPECT_GE(work->cpu, Nanoseconds(Milliseconds(150)));
  EXPECT_GE(work->io_bytes, 4U << 20);
  EXPECT_FALSE(work->waits_in_kernel);
}

TEST_F(ProcessWorkTest, WhatItsChildrenDoIsItsOwnAlsoOfThoseThatEnded) {
  const Child child([] {
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::fork() == 0) {
        use_cpu(std::chrono::milliseconds(200));
        ::_exit(0);
      }
      ::wait(nullptr);
      read_zeroes(4);
      for (;;) ::pause();
    }
    ::usleep(1000);
  });
  const ProcessId id = child.id(*env_);
  Result<ProcessWork> work;
  for (int n = 0; n < 1000; ++n) {
    work = read_work(*env_, id);
    ASSERT_TRUE(work) << work.error().describe();
    if (work->io_bytes >= 4U << 20) break;
    ::usleep(10'000);
  }
  EXPECT_GE(work->io_bytes, 4U << 20);
  EXPECT_GE(work->cpu, Nanoseconds(Milliseconds(150)));
}

TEST_F(ProcessWorkTest, OneThatEndedOrWhosePidIsSomebodyElsesIsNotFound) {
  Child child([] {});
  ProcessId id = child.id(*env_);
  ++id.start_ticks;
  EXPECT_EQ(read_work(*env_, id).error().code(), ErrorCode::not_found);
  --id.start_ticks;
  EXPECT_TRUE(read_work(*env_, id));
  child.end();
  EXPECT_EQ(read_work(*env_, id).error().code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace stoker::os
