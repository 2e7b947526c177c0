// Test support: a simulated node that is watched by the real `stoker probe` through the Supervisor, as
// `stoker up` does it, with every time of docs/specs/probe.md shortened by about ten.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "device/probe/supervisor.h"
#include "device/simnode/sim_node.h"
#include "sample/derive.h"
#include "stoker_process.h"
#include "store/store.h"

namespace stoker::test {

using device::GpuState;
using device::SourceState;

// Under a sanitizer a probe takes some times as long to start.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int slowness = 4;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr int slowness = 4;
#else
inline constexpr int slowness = 1;
#endif
#else
inline constexpr int slowness = 1;
#endif

// The node says what is so within the deadline of a call and ten seconds; both shortened by ten.
inline constexpr Nanoseconds hung_after = Seconds(1);
inline constexpr Nanoseconds told_within = hung_after + Seconds(1) * slowness;
// As old as a reading of a GPU that is well may be, including the start of a probe; a reading of the
// fastest class is stale after five seconds.
inline constexpr Nanoseconds fresh = Milliseconds(1500) * slowness;

inline device::probe::Timing short_timing() {
  device::probe::Timing timing;
  timing.hung_after = hung_after;
  timing.leave_after = Milliseconds(2000);
  timing.term_after = Milliseconds(2500);
  timing.kill_after = Milliseconds(3000);
  timing.heartbeat = Milliseconds(25);
  timing.retry_first = Milliseconds(300);
  timing.retry_most = Milliseconds(600);
  timing.lost_retry = Milliseconds(500);
  timing.hung_retry_first = Milliseconds(500);
  timing.hung_retry_most = Milliseconds(2000);
  timing.stop_wait = Milliseconds(500);
  return timing;
}

class FaultyNode : public testing::Test {
 protected:
  // Times of the real clock; wall time may be moved.
  class StepClock final : public Clock {
   public:
    [[nodiscard]] MonotonicTime monotonic() const override { return system_clock().monotonic(); }
    [[nodiscard]] WallTime wall() const override {
      return {system_clock().wall().since_epoch + Nanoseconds(step_.load())};
    }
    void step(Nanoseconds by) { step_ += by.count(); }

   private:
    std::atomic<std::int64_t> step_{0};
  };

  void SetUp() override {
    auto made = simnode::SimNode::create({.profile = "hgx-h200x4"}, folder_.path("node"));
    ASSERT_TRUE(made.has_value()) << made.error().describe();
    node.emplace(std::move(*made));
    options.program = STOKER_BINARY_DIR "/bin/stoker";
    options.environment = {"STOKER_SIM_STATE=" + node->state_file()};
    options.library = STOKER_BINARY_DIR "/lib/sim/libnvidia-ml.so.1";
    options.driver_marker = node->root() + "/proc/driver/nvidia/version";
    options.rates.scale = 10;
    options.timing = short_timing();
  }
  void TearDown() override {
    if (supervisor != nullptr) supervisor->stop();
  }

  void watch() {
    supervisor = std::make_unique<device::probe::Supervisor>(options, clock);
    supervisor->start(derive_);
  }
  // Until all four GPUs are read.
  void watch_until_well() {
    watch();
    ASSERT_TRUE(wait([this] { return well(); }, Seconds(20))) << describe();
  }

  void inject(const std::string& name, const std::string& gpu = "0",
              const std::vector<std::string>& args = {}, const std::string& call = "") {
    const auto done = node->inject({.name = name, .args = args, .gpu = gpu, .call = call});
    ASSERT_TRUE(done.has_value()) << done.error().describe();
    began = clock.monotonic();
  }
  void heal() {
    const auto done = node->clear("all");
    ASSERT_TRUE(done.has_value()) << done.error().describe();
    began = clock.monotonic();
  }

  // Looks at the node until `done` or for `limit`. What it sees of the GPUs `unharmed` meanwhile counts.
  bool wait(const std::function<bool()>& done, Nanoseconds limit) {
    const MonotonicTime until = clock.monotonic() + limit;
    while (true) {
      now = store_.snapshot();
      note_ages();
      if (done()) return true;
      if (clock.monotonic() > until) return false;
      std::this_thread::sleep_for(Milliseconds(10));
    }
  }
  bool wait_for_state(unsigned gpu, GpuState state, Nanoseconds limit = told_within) {
    return wait([&] { return now.gpus.size() > gpu && now.gpus[gpu].state == state; }, limit);
  }
  bool wait_for_source(SourceState state, Nanoseconds limit = told_within) {
    return wait([&] { return now.source.state == state; }, limit);
  }
  bool wait_until_well(Nanoseconds limit = Seconds(20)) {
    return wait([this] { return well(); }, limit);
  }

  [[nodiscard]] Nanoseconds age(unsigned gpu) const {
    const Reading reading = now.gpus.at(gpu).readings.get(FieldId::temperature);
    return reading.ok() ? now.taken_at - reading.taken_at : Nanoseconds::max();
  }
  [[nodiscard]] bool well() const {
    if (now.source.state != SourceState::running || now.gpus.size() != 4) return false;
    for (unsigned gpu = 0; gpu < 4; ++gpu) {
      if (now.gpus[gpu].state != GpuState::present || age(gpu) > fresh) return false;
    }
    return true;
  }
  [[nodiscard]] Reason reason(unsigned gpu, FieldId field = FieldId::temperature) const {
    return now.gpus.at(gpu).readings.get(field).reason;
  }
  // Every reading of this GPU that the store has, by its reason.
  [[nodiscard]] std::set<Reason> reasons(unsigned gpu) const {
    std::set<Reason> all;
    for (const auto& [field, reading] : now.gpus.at(gpu).readings.all()) all.insert(reading.reason);
    return all;
  }
  [[nodiscard]] std::string describe() const {
    std::ostringstream text;
    text << to_string(now.source.state) << " (" << now.source.detail << "), probe "
         << now.source.probe_pid << ", stuck " << now.source.stuck_probes << ", restarts "
         << now.source.restarts;
    for (const auto& gpu : now.gpus) {
      text << "\n  " << gpu.info.pci.sysfs() << " " << to_string(gpu.state) << " ("
           << gpu.state_detail << "), temperature "
           << to_string(gpu.readings.get(FieldId::temperature).reason);
    }
    return text.str();
  }

  // Processes whose parent is this one and whose name is the probe's.
  [[nodiscard]] static std::vector<pid_t> probes() {
    std::vector<pid_t> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream children(entry.path() / "children");
      all.insert(all.end(), std::istream_iterator<pid_t>(children), std::istream_iterator<pid_t>());
    }
    return all;
  }
  // True if any thread of `pid` is in state D.
  [[nodiscard]] static bool uninterruptible(pid_t pid) {
    const auto tasks = std::filesystem::path("/proc") / std::to_string(pid) / "task";
    std::error_code gone;
    for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
      const std::string stat = read_text(task.path() / "stat");
      const auto end = stat.rfind(')');
      if (end != std::string::npos && stat.compare(end, 4, ") D ") == 0) return true;
    }
    return false;
  }
  [[nodiscard]] Nanoseconds since_fault() const { return clock.monotonic() - began; }

  std::set<unsigned> unharmed;
  Nanoseconds oldest_unharmed{0};
  std::size_t most_probes = 0;

  std::optional<simnode::SimNode> node;
  device::probe::SupervisorOptions options;
  StepClock clock;
  MonotonicTime began;
  store::Snapshot now;
  std::unique_ptr<device::probe::Supervisor> supervisor;

 private:
  void note_ages() {
    most_probes = std::max(most_probes, probes().size());
    for (const unsigned gpu : unharmed) oldest_unharmed = std::max(oldest_unharmed, age(gpu));
  }

  TempFolder folder_;
  store::Store store_{clock, {.hostname = "node"}};
  sample::Derive derive_{store_};
};

}  // namespace stoker::test
