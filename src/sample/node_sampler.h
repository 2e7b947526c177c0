// Sample stage, agent side: the node's own readings: processors, memory, /dev/shm, disks of data and
// cache, all through os::Env. A file system that does not answer keeps nothing else waiting; its readings
// grow stale.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "catalog/field.h"
#include "device/api.h"
#include "device/probe/rates.h"
#include "model/reading.h"
#include "os/env.h"
#include "sample/disk_look.h"

namespace stoker::sample {

struct NodeSamplerOptions {
  std::string data_folder;                // empty: its fields are `not_supported`
  std::string cache_folder;               // empty: its fields are `not_supported`
  Nanoseconds period = Seconds(4);        // processors and memory
  Nanoseconds disk_period = Seconds(10);  // file systems
  // How long a round waits for a file system that it has just asked; a later answer is told by the next
  // round.
  Nanoseconds disk_patience = Milliseconds(100);
};

// The periods at these rates: processors and memory every fourth time that the GPUs' cheap calls are
// due, file systems as often as calls into the firmware.
NodeSamplerOptions node_periods(const device::probe::SampleRates& rates);

using NodeReadings = std::vector<std::pair<FieldId, Reading>>;

// A small file of the kernel that is read again and again: opened once.
class KeptFile {
 public:
  explicit KeptFile(std::string path) : path_(std::move(path)) {}

  // Its content now, valid until the next call; at most 64 KiB of it.
  Result<std::string_view> read(const os::Env& env);

 private:
  const std::string path_;
  UniqueFd file_;
  std::string text_;
};

class NodeSampler {
 public:
  // Gets what one round read, and what all calls have cost so far: store::Store::on_node_readings and
  // on_node_costs. Called from the sampler's thread.
  using Tell = std::function<void(const NodeReadings&, const std::vector<device::CallCost>&)>;

  // Nothing is read before start(). A file system that never answers keeps `env` for good.
  NodeSampler(std::shared_ptr<const os::Env> env, NodeSamplerOptions options, Tell tell);
  ~NodeSampler();
  NodeSampler(const NodeSampler&) = delete;
  NodeSampler& operator=(const NodeSampler&) = delete;

  void start();
  // Returns when the round under way is done; waits for no file system.
  void stop();

  // One round, in the caller's thread: what the thread of start() does each period. Not while that
  // thread runs.
  void round();

 private:
  struct CpuTimes {
    std::uint64_t busy = 0;
    std::uint64_t all = 0;
  };
  static Result<CpuTimes> parse_cpu_times(std::string_view stat);

  void read_cpu(NodeReadings& out);
  void read_memory(NodeReadings& out);
  void read_disks(NodeReadings& out);
  void tell_disks(NodeReadings& out);
  void account(Getter getter, Nanoseconds took);

  struct Disk {
    FieldId total;
    FieldId second;
    std::unique_ptr<DiskLook> look;  // null: no folder is named
  };

  // Constant after construction.
  const std::shared_ptr<const os::Env> env_keeper_;
  const os::Env& env_;
  const NodeSamplerOptions options_;
  const Tell tell_;

  // Of the thread that calls round().
  KeptFile stat_{"/proc/stat"};
  KeptFile meminfo_{"/proc/meminfo"};
  std::optional<CpuTimes> before_;
  std::optional<MonotonicTime> disks_at_;
  std::vector<Disk> disks_;
  std::vector<device::CallCost> costs_;

  std::jthread thread_;
};

}  // namespace stoker::sample
