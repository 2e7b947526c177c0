// Device stage: a load trace: what some GPUs read while they did one thing, a JSON object a line and GPU, by time. Not a
// recording of a node: it has the fields of activity alone. docs/specs/recording.md has its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/api.h"
#include "model/attribution.h"

namespace stoker::device::record {

struct TraceRow {
  Nanoseconds at{0};  // since the first row
  std::uint32_t gpu = 0;
  std::vector<std::pair<FieldId, double>> readings;
  std::uint32_t processes = 0;        // how many run on it
  std::optional<ProcessOwner> owner;  // of all of them; none: the trace does not say
};

class LoadTrace {
 public:
  // invalid_input with file and line for a line that is no such object, whose time falls, or with too many GPUs; keys
  // that are not known are passed over.
  static Result<LoadTrace> read(std::string_view text, const std::string& file);
  // Does a file that begins so look like one?
  static bool is_one(std::string_view begin);

  [[nodiscard]] const std::vector<TraceRow>& rows() const { return rows_; }
  [[nodiscard]] std::uint32_t gpus() const { return gpus_; }
  [[nodiscard]] Nanoseconds length() const { return rows_.back().at; }

  // The same, with its last `last` again and again until it is `length` long.
  [[nodiscard]] LoadTrace held(Nanoseconds last, Nanoseconds length) const;

  // Its GPUs, by number; and what one row tells, at `now`. The processes have the pids of trace_pid().
  [[nodiscard]] std::vector<GpuInfo> inventory() const;
  static void tell(const TraceRow& row, MonotonicTime now, Listener& listener);

 private:
  std::vector<TraceRow> rows_;
  std::uint32_t gpus_ = 0;
};

// Above every real pid (os::pid_max_limit): nobody's.
constexpr std::uint32_t trace_pid(std::uint32_t gpu, std::uint32_t process) {
  return 5'000'000 + 1000 * gpu + process;
}

}  // namespace stoker::device::record
