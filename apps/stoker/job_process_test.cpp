#include "job_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "job_files.h"
#include "os/system_env.h"

namespace stoker::app {
namespace {

// A process that has done `first`, and waits for its end.
class Waiting {
 public:
  explicit Waiting(const std::function<bool()>& first) {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      if (!first() || ::write(ready[1], "r", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    runs_ = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  ~Waiting() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  // False: this machine does not let it do that.
  [[nodiscard]] bool runs() const { return runs_; }
  [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

 private:
  pid_t pid_ = 0;
  bool runs_ = false;
};

bool be_called(const std::string& name) {
  return ::unshare(CLONE_NEWUTS) == 0 && ::sethostname(name.data(), name.size()) == 0;
}

TEST(JobProcess, ThatRunsWithAnotherUsersRightsIsNotLookedAt) {
  const auto env = os::make_system_env();
  const Waiting there([] { return ::setresuid(12345, 0, 0) == 0; });
  if (!there.runs()) GTEST_SKIP() << "only root may become another user";
  const auto process = look_at_process(*env, there.pid());
  ASSERT_FALSE(process);
  EXPECT_NE(process.error().message().find("rights of another user"), std::string::npos);
}

TEST(JobProcess, IsCalledAsItsOwnHostIs) {
  const auto env = os::make_system_env();
  const Waiting there([] { return be_called("node-7.example"); });
  if (!there.runs()) GTEST_SKIP() << "no UTS namespace may be made here";
  const auto process = look_at_process(*env, there.pid());
  ASSERT_TRUE(process) << process.error().describe();
  EXPECT_EQ(process->host, "node-7.example");
  EXPECT_EQ(process->host_problem, "");
  const Waiting here([] { return true; });
  const auto ours = look_at_process(*env, here.pid());
  ASSERT_TRUE(ours) << ours.error().describe();
  EXPECT_EQ(ours->host, env->hostname()) << "that was left again";
}

TEST(JobProcess, HasNoHostWhereItsNameIsNone) {
  const auto env = os::make_system_env();
  for (const std::string name : {"../../etc/shadow", "a b", "root:$6$salt", "*", "(none)"}) {
    const Waiting there([&] { return be_called(name); });
    if (!there.runs()) GTEST_SKIP() << "no UTS namespace may be made here";
    auto process = look_at_process(*env, there.pid());
    ASSERT_TRUE(process) << process.error().describe();
    EXPECT_EQ(process->host, "");
    EXPECT_EQ(process->host_problem, "what it is called there is no host name");
    process->environment["NCCL_DEBUG_FILE"] = "/tmp/x-%h";
    process->outputs.clear();
    EXPECT_TRUE(file_names_of(*process).empty());
    process->environment["NCCL_DEBUG_FILE"] = "/tmp/x-%p";
    EXPECT_EQ(file_names_of(*process).size(), 1U);
  }
}

// What its user puts in the place of a file of its container is opened by nobody who may read more than he.
TEST(JobProcess, TakesNoNameFromAFileBelowItsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "another root folder takes root";
  std::string folder = (std::filesystem::temp_directory_path() / "stoker-root-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directory(folder + "/etc");
  std::ofstream(folder + "/etc/hostname") << "secret-of-root\n";
  std::filesystem::permissions(folder + "/etc/hostname", std::filesystem::perms(0600));
  int told[2];
  ASSERT_EQ(::pipe2(told, O_CLOEXEC), 0);
  const Waiting container([&] {
    if (::unshare(CLONE_NEWPID) != 0) return false;
    const pid_t first = ::fork();  // the namespace's first, and ended with its parent
    if (first == 0) {
      if (::chroot(folder.c_str()) != 0 || ::setuid(51001) != 0) ::_exit(1);
      while (true) ::pause();
    }
    return ::write(told[1], &first, sizeof first) == sizeof first;
  });
  pid_t first = 0;
  if (container.runs()) {
    ASSERT_EQ(::read(told[0], &first, sizeof first), ssize_t{sizeof first});
  }
  ::close(told[0]);
  ::close(told[1]);
  const auto env = os::make_system_env();
  const auto root = "/proc/" + std::to_string(first) + "/root";
  std::error_code problem;
  for (int i = 0; i < 500 && first != 0; ++i) {
    if (std::filesystem::read_symlink(root, problem) == folder) break;
    ::usleep(10'000);
  }
  const auto process = look_at_process(*env, static_cast<std::uint32_t>(first));
  if (first != 0) ::kill(first, SIGKILL);
  std::filesystem::remove_all(folder);
  if (!container.runs()) GTEST_SKIP() << "no namespace of processes may be made here";
  ASSERT_TRUE(process) << process.error().describe();
  ASSERT_EQ(process->pids.size(), 2U) << "as in a container";
  EXPECT_EQ(process->host, env->hostname());
}

}  // namespace
}  // namespace stoker::app
