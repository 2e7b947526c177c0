// Sample stage, agent side: the node's own readings: processors, memory, /dev/shm, disks of data and
// cache, all through os::Env. It has a thread of its own, since a network file system may not answer
// for minutes; nothing else waits for it then, and its readings grow stale.
#pragma once

#include <cstdint>
#include <functional>
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
#include "model/reading.h"
#include "os/env.h"

namespace stoker::sample {

struct NodeSamplerOptions {
  std::string data_folder;                // empty: its fields are `not_supported`
  std::string cache_folder;               // empty: its fields are `not_supported`
  Nanoseconds period = Seconds(4);        // processors and memory
  Nanoseconds disk_period = Seconds(10);  // file systems
};

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

  // `env` must outlive this. Nothing is read before start().
  NodeSampler(const os::Env& env, NodeSamplerOptions options, Tell tell);
  ~NodeSampler();
  NodeSampler(const NodeSampler&) = delete;
  NodeSampler& operator=(const NodeSampler&) = delete;

  void start();
  // Returns when the round under way is done.
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
  void read_disk(std::string_view folder, FieldId total, FieldId second, NodeReadings& out);
  void account(Getter getter, MonotonicTime began);

  // Constant after construction.
  const os::Env& env_;
  const NodeSamplerOptions options_;
  const Tell tell_;

  // Of the thread that calls round().
  KeptFile stat_{"/proc/stat"};
  KeptFile meminfo_{"/proc/meminfo"};
  std::optional<CpuTimes> before_;
  std::optional<MonotonicTime> disks_at_;
  std::vector<device::CallCost> costs_;

  std::jthread thread_;
};

}  // namespace stoker::sample
