#include "sample/node_sampler.h"

#include <gtest/gtest.h>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace stoker::sample {
namespace {

// A machine made of texts.
class ScriptedEnv final : public os::Env {
 public:
  [[nodiscard]] const Clock& clock() const override { return manual; }
  [[nodiscard]] Result<std::string> read_file(std::string_view, std::size_t) const override {
    return fail(ErrorCode::not_found, "");
  }
  [[nodiscard]] Result<std::vector<std::string>> list_folder(std::string_view) const override {
    return fail(ErrorCode::not_found, "");
  }
  [[nodiscard]] Result<std::string> read_link(std::string_view) const override {
    return fail(ErrorCode::not_found, "");
  }
  [[nodiscard]] bool exists(std::string_view) const override { return false; }
  [[nodiscard]] Result<os::FilesystemUse> filesystem(std::string_view path) const override {
    return find(disks, std::string(path));
  }
  [[nodiscard]] Result<os::FilesystemUse> own_filesystem(const std::string& path) const override {
    if (path == stuck) {
      std::unique_lock lock(mutex_);
      released_.wait(lock, [this] { return free_; });
    }
    return find(own_disks, path);
  }
  [[nodiscard]] std::string hostname() const override { return "node"; }
  [[nodiscard]] Result<UniqueFd> open(std::string_view path, int flags) const override {
    const std::string file = folder + flat(path);
    UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | flags));
    if (!opened.valid()) return fail(Error::from_errno(errno, "open " + file));
    return opened;
  }
  [[nodiscard]] std::string real_path(std::string_view path) const override {
    return std::string(path);
  }

  // The same file with another content, as the kernel's files are.
  void set(std::string_view path, const std::string& text) const {
    std::ofstream(folder + flat(path), std::ios::trunc) << text;
  }

  ManualClock manual;
  std::string folder;
  using Disks = std::map<std::string, os::FilesystemUse>;
  Disks disks;
  Disks own_disks;

  // This folder's file system does not answer until let_go().
  std::string stuck;
  void let_go() {
    const std::lock_guard lock(mutex_);
    free_ = true;
    released_.notify_all();
  }

 private:
  static Result<os::FilesystemUse> find(const Disks& disks, const std::string& path) {
    const auto found = disks.find(path);
    if (found == disks.end()) return fail(ErrorCode::no_permission, "refused");
    return found->second;
  }
  mutable std::mutex mutex_;
  mutable std::condition_variable released_;
  bool free_ = false;

  static std::string flat(std::string_view path) {
    std::string name(path);
    std::ranges::replace(name, '/', '_');
    return "/" + name;
  }
};

class Node : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "node_sampler_XXXXXX";
    env.folder = mkdtemp(name.data());
    env.set("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3 4\n");
    env.set("/proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\nMemAvailable:    512 kB\n");
    env.disks["/dev/shm"] = {1000, 600};
    env.own_disks["/data"] = {5000, 2000};
  }
  void TearDown() override { std::filesystem::remove_all(env.folder); }
  void round() { sampler.round(); }
  Reading told(FieldId field) { return last[field]; }

  std::shared_ptr<ScriptedEnv> shared_env = std::make_shared<ScriptedEnv>();
  ScriptedEnv& env = *shared_env;
  std::map<FieldId, Reading> last;
  std::vector<device::CallCost> costs;
  NodeSampler sampler{shared_env,
                      {.data_folder = "/data", .disk_patience = Seconds(60)},
                      [this](const NodeReadings& readings, const auto& told_costs) {
                        for (const auto& [field, reading] : readings) last[field] = reading;
                        costs = told_costs;
                      }};
};

TEST_F(Node, TellsHowBusyTheProcessorsWereBetweenTwoRounds) {
  round();
  EXPECT_FALSE(last.contains(FieldId::cpu_busy));
  env.set("/proc/stat", "cpu  130 0 120 850 0 0 0 0 0 0\n");
  round();
  EXPECT_DOUBLE_EQ(as_double(told(FieldId::cpu_busy).value), 50);
}

TEST_F(Node, CountsWaitingForDisksAsIdle) {
  round();
  env.set("/proc/stat", "cpu  100 0 100 800 100 0 0 0 0 0\n");
  round();
  EXPECT_DOUBLE_EQ(as_double(told(FieldId::cpu_busy).value), 0);
}

TEST_F(Node, TellsNothingWhenTheKernelsSumsStepBack) {
  round();
  env.set("/proc/stat", "cpu  90 0 100 800 0 0 0 0 0 0\n");
  round();
  EXPECT_FALSE(last.contains(FieldId::cpu_busy));
}

TEST_F(Node, SaysThatAFileIsNotThere) {
  std::filesystem::remove_all(env.folder);
  round();
  EXPECT_EQ(told(FieldId::cpu_busy).reason, Reason::no_source);
}

TEST_F(Node, SaysThatAFileMakesNoSense) {
  env.set("/proc/stat", "nonsense");
  env.set("/proc/meminfo", "MemTotal: many kB\n");
  round();
  EXPECT_EQ(told(FieldId::cpu_busy).reason, Reason::failed);
  EXPECT_EQ(told(FieldId::memory_total_host).reason, Reason::failed);
  EXPECT_EQ(told(FieldId::memory_available).reason, Reason::failed);
}

TEST_F(Node, TellsMemoryInBytes) {
  round();
  EXPECT_EQ(std::get<std::int64_t>(told(FieldId::memory_total_host).value), 1024 * 1024);
  EXPECT_EQ(std::get<std::int64_t>(told(FieldId::memory_available).value), 512 * 1024);
}

TEST_F(Node, TellsWhatIsUsedInShmAndFreeOnDisks) {
  round();
  EXPECT_EQ(std::get<std::int64_t>(told(FieldId::shm_total).value), 1000);
  EXPECT_EQ(std::get<std::int64_t>(told(FieldId::shm_used).value), 400);
  EXPECT_EQ(std::get<std::int64_t>(told(FieldId::data_disk_free).value), 2000);
  EXPECT_EQ(told(FieldId::cache_disk_total).reason, Reason::not_supported);
  env.disks.clear();
  env.own_disks.clear();
  env.manual.advance(Seconds(10));
  round();
  EXPECT_EQ(told(FieldId::data_disk_free).reason, Reason::no_permission);
}

TEST_F(Node, AsksForFileSystemsOnlyEveryTenSeconds) {
  for (int second = 0; second < 20; ++second) {
    round();
    env.manual.advance(Seconds(1));
  }
  ASSERT_FALSE(costs.empty());
  for (const device::CallCost& cost : costs) {
    EXPECT_EQ(cost.calls, cost.getter == Getter::node_filesystem ? 4U : 20U);
  }
}

TEST_F(Node, ADiskThatDoesNotAnswerKeepsNeitherTheOthersNorTheEndWaiting) {
  env.stuck = "/cache";
  env.own_disks["/cache"] = {100, 50};
  std::map<FieldId, Reading> seen;
  {
    NodeSampler beside(shared_env, {.data_folder = "/data", .cache_folder = "/cache"},
                       [&seen](const NodeReadings& readings, const auto&) {
                         for (const auto& [field, reading] : readings) seen[field] = reading;
                       });
    while (!seen.contains(FieldId::shm_total) || !seen.contains(FieldId::data_disk_free)) {
      beside.round();
      env.manual.advance(Seconds(10));
    }
    EXPECT_TRUE(seen[FieldId::memory_available].ok());
    EXPECT_FALSE(seen.contains(FieldId::cache_disk_free));
  }
  env.let_go();
}

TEST_F(Node, TellsADiskThatAnswersLate) {
  env.stuck = "/data";
  NodeSampler beside(shared_env, {.data_folder = "/data", .disk_patience = Nanoseconds(0)},
                     [this](const NodeReadings& readings, const auto&) {
                       for (const auto& [field, reading] : readings) last[field] = reading;
                     });
  beside.round();
  EXPECT_FALSE(last.contains(FieldId::data_disk_free));
  env.let_go();
  while (!last.contains(FieldId::data_disk_free)) {
    beside.round();
    std::this_thread::yield();
  }
  EXPECT_EQ(std::get<std::int64_t>(told(FieldId::data_disk_free).value), 2000);
}

TEST(NodePeriods, FollowTheRatesAndTheirScale) {
  device::probe::SampleRates rates;
  EXPECT_EQ(node_periods(rates).period, Seconds(4));
  EXPECT_EQ(node_periods(rates).disk_period, Seconds(15));
  rates.cheap = Seconds(2);
  rates.scale = 20;
  EXPECT_EQ(node_periods(rates).period, Milliseconds(400));
  EXPECT_EQ(node_periods(rates).disk_period, Milliseconds(750));
}

TEST_F(Node, ReadsInItsOwnThreadUntilItIsStopped) {
  std::atomic<int> rounds = 0;
  NodeSampler threaded(shared_env, {.period = Milliseconds(1)},
                       [&](const auto&, const auto&) { ++rounds; });
  threaded.start();
  while (rounds < 3) std::this_thread::sleep_for(Milliseconds(1));
  threaded.stop();
  const int at_stop = rounds;
  std::this_thread::sleep_for(Milliseconds(10));
  EXPECT_EQ(rounds, at_stop);
}

}  // namespace
}  // namespace stoker::sample
