// Device stage: keeps what a source tells in a file. It stands beside the way of the data and never
// holds it up: what is told is encoded in memory, and a thread of its own writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_safety.h"
#include "base/unique_fd.h"
#include "device/record/codec.h"
#include "device/record/identifiers.h"

namespace stoker::device::record {

struct RecorderOptions {
  std::string path;
  std::uint64_t max_bytes = std::uint64_t{512} << 20;
  bool replace_identifiers = false;
  // What is told reaches the file so much later at most (sooner where a block is full).
  Nanoseconds flush = Seconds(5);
};

struct Progress {
  std::uint64_t bytes = 0;  // in the file
  std::uint64_t events = 0;
  Nanoseconds length{0};
  std::string ended;  // why nothing is recorded any more; empty: it is
};

// Stops by itself, and says so once in the log, when the file would be larger than max_bytes, can't be
// written (the disk is full), or is not written as fast as is told; what is in it stays whole.
// Every function may be called from any thread, finish() from one.
class Recorder final : public Listener {
 public:
  // Makes the file. invalid_input: it is there already; io, no_permission: it can't be made.
  static Result<std::unique_ptr<Recorder>> start(const Clock& clock, RecorderOptions options,
                                                 Begin begin);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void on_status(const SourceStatus& status) override { put(StatusTold{status}); }
  void on_driver(const DriverInfo& driver) override { put(DriverSeen{driver}); }
  void on_inventory(const std::vector<GpuInfo>& gpus) override { put(InventorySeen{gpus}); }
  void on_readings(const PciAddress& gpu, const std::vector<TargetReading>& readings) override {
    put(ReadingsTold{gpu, readings});
  }
  void on_processes(const PciAddress& gpu, const Reading& outcome,
                    const std::vector<ProcessInfo>& processes) override {
    put(ProcessesTold{gpu, outcome, processes});
  }
  void on_gpu_state(const PciAddress& gpu, GpuState state, const std::string& detail) override {
    put(StateTold{gpu, state, detail});
  }
  void on_costs(const PciAddress& gpu, const std::vector<CallCost>& costs) override {
    put(CostsTold{gpu, costs});
  }
  void on_xid(const PciAddress& gpu, std::uint32_t xid, MonotonicTime at) override {
    put(XidTold{gpu, xid, at});
  }
  void on_node_readings(const std::vector<std::pair<FieldId, Reading>>& readings) {
    put(NodeReadings{readings});
  }
  void on_node_costs(const std::vector<CallCost>& costs) { put(NodeCosts{costs}); }
  void on_node_devices(const NodeDevices& devices) { put(DevicesSeen{devices}); }

  [[nodiscard]] Progress progress() const EXCLUDES(mutex_);
  // Writes what is left and how it ended, and closes the file; `why` is for people. Nothing is recorded
  // afterwards. Returns when the disk has it.
  void finish(const std::string& why) EXCLUDES(mutex_);

 private:
  Recorder(const Clock& clock, RecorderOptions options, UniqueFd fd);

  void put(What what) EXCLUDES(mutex_);
  void add(MonotonicTime told, What what) REQUIRES(mutex_);
  void tell_wall(MonotonicTime told) REQUIRES(mutex_);
  void end(const std::string& why) REQUIRES(mutex_);
  void write_blocks(const std::stop_token& stop) EXCLUDES(mutex_);
  void write_block() EXCLUDES(mutex_);
  Result<void> append(std::string_view bytes);

  // Constant after construction.
  const Clock& clock_;
  const RecorderOptions options_;

  // Of the thread that writes, and of finish() after it.
  UniqueFd fd_;

  mutable Mutex mutex_;
  CondVar wake_;
  Encoder encoder_ GUARDED_BY(mutex_);
  Identifiers identifiers_ GUARDED_BY(mutex_);
  MonotonicTime began_ GUARDED_BY(mutex_);
  MonotonicTime last_told_ GUARDED_BY(mutex_);     // of what was added
  MonotonicTime last_written_ GUARDED_BY(mutex_);  // of what is in the file
  Nanoseconds wall_ahead_ GUARDED_BY(mutex_){0};   // wall minus monotonic time, as told last
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t events_ GUARDED_BY(mutex_) = 0;
  std::string ended_ GUARDED_BY(mutex_);

  std::jthread thread_;
};

}  // namespace stoker::device::record
