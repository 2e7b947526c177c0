// History stage: the last hour by reading and the last day by minute, of chosen fields of every GPU and
// MIG instance and of the node. Hears what the store hears. Never takes more memory than it was given:
// more series shorten the windows, and where they can't be shorter, the series heard of longest ago goes.
//
// Time: a clock that is set back must not overwrite what is kept, so the history counts on from the
// wall time of its start by the monotonic clock. What is told to people is as old as it really is:
// wall time now, minus its age.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread_safety.h"
#include "catalog/field.h"
#include "device/api.h"
#include "history/series.h"

namespace stoker::history {

struct HistoryOptions {
  std::vector<FieldId> fields;                         // of GPUs and MIG instances
  std::vector<FieldId> node_fields;                    // of the node
  std::function<Nanoseconds(const Field&)> period_of;  // how often one is read; 0: never again
  std::size_t memory_bytes = std::size_t{8} << 20;
  Nanoseconds readings_window = Seconds(3600);
  Nanoseconds minutes_window = Seconds(86'400);
};

// The fields of which a history is kept if nobody says otherwise: at most 24 of a GPU and 4 of its
// NVLinks, and five of the node.
std::vector<FieldId> default_fields();
std::vector<FieldId> default_node_fields();

// What a series costs besides its slots: the object, its place in lists, the allocator's own.
inline constexpr std::size_t beside_slots = sizeof(Series) + 6 * sizeof(void*);

// Whose field it is: the node, a GPU, or a MIG instance.
struct Subject {
  EntityKind kind = EntityKind::gpu;
  std::string gpu_uuid;  // empty for the node
  std::string mig_uuid;  // of a MIG instance alone
  friend auto operator<=>(const Subject&, const Subject&) = default;
};

struct HistoryFacts {
  std::size_t series = 0;
  std::size_t bytes = 0;
  std::size_t memory_bytes = 0;
  Nanoseconds readings_window{0};
  Nanoseconds minutes_window{0};
  std::uint64_t given_up = 0;  // series that went, or never came, for want of memory; only rises
};

// "21 series in 0.7 of 8 MiB: by reading 1 h 0 min, by minute 1 d 0 h".
std::string describe(const HistoryFacts& facts);

enum class Step : std::uint8_t { readings, minutes };

struct Answer {
  struct Value {
    WallTime at;
    double least = 0;  // all three are the same where the step is one reading
    double mean = 0;
    double most = 0;
    Mark mark;
  };
  Subject subject;
  Nanoseconds step{0};
  std::vector<Value> values;
};

class History final : public device::PartListener {
 public:
  History(const Clock& clock, HistoryOptions options);

  void on_status(const device::SourceStatus& status) override EXCLUDES(mutex_);
  void on_inventory(const std::vector<device::GpuInfo>& gpus) override EXCLUDES(mutex_);
  void on_readings(const PciAddress& gpu,
                   const std::vector<device::TargetReading>& readings) override EXCLUDES(mutex_);
  void on_gpu_state(const PciAddress& gpu, device::GpuState state,
                    const std::string& detail) override EXCLUDES(mutex_);
  void on_node_readings(const std::vector<std::pair<FieldId, Reading>>& readings) EXCLUDES(mutex_);

  // Is a history of this field kept?
  [[nodiscard]] bool keeps(FieldId field) const;
  // Of every subject that has one: the time from `since` before now, by reading where the step is
  // `readings` (as far back as that window goes), else by minute.
  [[nodiscard]] std::vector<Answer> ask(FieldId field, Nanoseconds since, Step step) const
      EXCLUDES(mutex_);
  // What `ask` would take for the finest step that reaches back so far.
  [[nodiscard]] Step step_for(Nanoseconds since) const EXCLUDES(mutex_);
  [[nodiscard]] HistoryFacts facts() const EXCLUDES(mutex_);

  // Everything as pieces of bytes, no longer than a series, one after the other; the first error of
  // `sink` ends it. Readings may come in between.
  using Sink = std::function<Result<void>(std::string_view)>;
  Result<void> write_to(const Sink& sink) const EXCLUDES(mutex_);
  // Before anything is told. corrupt, and nothing is taken, where the bytes don't hold together.
  Result<void> read_from(std::string_view bytes) EXCLUDES(mutex_);

 private:
  using SeriesOfFields = std::vector<std::unique_ptr<Series>>;  // by place in the list of fields
  struct Track {                                                // one GPU as it is known now
    std::string uuid;
    std::vector<std::string> migs;  // their UUIDs
    bool telling = true;
  };
  [[nodiscard]] HistoryTime time_of(MonotonicTime at) const REQUIRES(mutex_);
  [[nodiscard]] Windows windows(Nanoseconds period) const REQUIRES(mutex_);
  [[nodiscard]] std::size_t bytes_of(Nanoseconds period) const REQUIRES(mutex_);
  void keep(const Subject& subject, std::size_t place, std::unique_ptr<Series> series)
      REQUIRES(mutex_);
  [[nodiscard]] Series* find(const Subject& subject, std::size_t place) const REQUIRES(mutex_);
  void take(const Subject& subject, std::size_t place, FieldId field, const Reading& reading)
      REQUIRES(mutex_);
  // For one more series of this period; false: not even by giving up others.
  bool make_room(Nanoseconds period) REQUIRES(mutex_);
  void shorten() REQUIRES(mutex_);
  bool give_up_oldest() REQUIRES(mutex_);
  void no_values(const std::string& gpu_uuid, Reason reason) REQUIRES(mutex_);
  [[nodiscard]] const std::vector<FieldId>& fields_of(const Subject& subject) const;
  [[nodiscard]] std::string bytes_of_one(const Subject& subject, std::size_t place) const
      EXCLUDES(mutex_);
  Result<std::map<Subject, SeriesOfFields>> decode(std::string_view bytes, HistoryTime& saved_at)
      REQUIRES(mutex_);

  // Constant after construction.
  const Clock& clock_;
  const HistoryOptions options_;
  std::vector<int> places_;  // by field: place in options_.fields or node_fields; -1: none

  mutable Mutex mutex_;
  MonotonicTime started_ GUARDED_BY(mutex_);
  HistoryTime origin_ GUARDED_BY(mutex_);  // what started_ counts as
  std::map<Subject, SeriesOfFields> series_ GUARDED_BY(mutex_);
  std::map<PciAddress, Track> gpus_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  double share_ GUARDED_BY(mutex_) = 1;  // of the full windows
  std::uint64_t given_up_ GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker::history
