// Device stage: a recording as a source. The recorded node's clock goes with it, so that everything
// downstream sees the times at which things were told, and not those of the replay.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_safety.h"
#include "device/record/file.h"
#include "model/replay_state.h"

namespace stoker::device::record {

// Moves `speed` times as fast as `real` from start() on, but never past a limit that only its player
// moves: at the time of an event it waits until that has been told. Safe from any thread.
class ReplayClock final : public Clock {
 public:
  ReplayClock(const Facts& facts, double speed, const Clock& real);

  [[nodiscard]] MonotonicTime monotonic() const override;
  [[nodiscard]] WallTime wall() const override;

  // Of the player.
  void start();
  void limit(MonotonicTime to) { limit_ = to.since_boot.count(); }
  void set_wall(MonotonicTime told, WallTime to) {
    wall_ahead_ = (to.since_epoch - told.since_boot).count();
  }
  // In real time; zero or less: it is so late.
  [[nodiscard]] Nanoseconds until(MonotonicTime at) const;

 private:
  [[nodiscard]] MonotonicTime unlimited() const;

  const MonotonicTime first_;
  const double speed_;
  const Clock& real_;
  std::atomic<std::int64_t> started_{-1};  // by real_; -1: not yet
  std::atomic<std::int64_t> limit_;
  std::atomic<std::int64_t> wall_ahead_;
};

// Takes what the node itself told, which is no source's.
struct NodeSink {
  std::function<void(const std::vector<std::pair<FieldId, Reading>>&)> readings;
  std::function<void(const std::vector<CallCost>&)> costs;
  std::function<void(const NodeDevices&)> devices;
};

// Tells one event to whom it concerns.
void tell(const Event& event, Listener& listener, const NodeSink& node);

class Replay final : public Source {
 public:
  // Errors as FileReader::open().
  static Result<std::unique_ptr<Replay>> open(const std::string& path, double speed,
                                              const Clock& real = system_clock());
  ~Replay() override;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const Begin& begin() const { return facts_.begin; }
  [[nodiscard]] ReplayState state() const EXCLUDES(mutex_);
  // Before start().
  void tell_node(NodeSink node) { node_ = std::move(node); }

  void start(Listener& listener) override;
  void stop() override;
  // No driver is held here: there is nothing to let go, and nothing changes.
  void release() override {}
  void resume() override {}

 private:
  Replay(FileReader reader, std::string path, double speed, const Clock& real);

  void play(const std::stop_token& stop, Listener& listener);
  bool wait_for(MonotonicTime at, const std::stop_token& stop);
  void end(const std::string& problem) EXCLUDES(mutex_);

  // Constant after construction (node_: after tell_node()).
  const Facts facts_;
  const std::string path_;
  const double speed_;
  NodeSink node_;

  ReplayClock clock_;
  FileReader reader_;  // of the thread that plays

  mutable Mutex mutex_;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::string problem_ GUARDED_BY(mutex_);

  std::jthread thread_;
};

}  // namespace stoker::device::record
