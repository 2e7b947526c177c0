// Device stage: events to the bytes of a block, and back. A block is a run of records:
//   0, name                        one more name; names count from 1
//   kind, time, length, body       kind: number of its name; time: difference to the record before, of
//                                  the first one in a block to zero
// A record of a kind that the reader does not know is skipped. docs/specs/recording.md has it whole.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/record/event.h"
#include "device/record/reading_code.h"

namespace stoker::device::record {

// Whose readings a series has. Without a GPU: the node.
struct SeriesKey {
  std::optional<PciAddress> gpu;
  Target target;
  FieldId field = FieldId::count_;
  friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
};

// 64 GPUs with everything that this build reads are 40,000.
inline constexpr std::size_t max_series = 262'144;

// Costs only grow: written by what was added since the last time. By GPU (empty: the node) and getter.
using CostsSoFar = std::map<std::pair<std::string, std::string>, CallCost>;

// Not thread-safe. What it was given lasts over blocks: they have to be read in order.
class Encoder {
 public:
  // The times of events must not fall. False: there are more series or names than any node has, and
  // nothing was added.
  bool add(const Event& event);
  [[nodiscard]] std::size_t size() const { return block_.bytes().size(); }
  // The block so far; the next one begins. Where a block is thrown away, only an End may follow.
  std::string take_block();

 private:
  struct Body;

  std::size_t series_of(const SeriesKey& key);
  void record(std::string_view kind, MonotonicTime told, std::string_view body);
  // With the first event: an End has to be readable whichever blocks between were not written.
  void name_end();

  Out block_;
  MonotonicTime told_;
  NamesWritten names_;
  std::map<SeriesKey, std::size_t> series_;
  std::vector<Reading> last_;  // by series
  Out new_series_;
  std::size_t new_series_count_ = 0;
  std::map<PciAddress, Reading> last_outcome_;
  std::map<PciAddress, std::string> last_processes_;
  CostsSoFar costs_;
};

class Decoder {
 public:
  using Tell = std::function<void(Event)>;
  // Every event of a block that this build knows. corrupt: it does not hold together; what was told
  // before that stands.
  Result<void> read_block(std::string_view bytes, const Tell& tell);

 private:
  struct Body;
  struct Series {
    SeriesKey key;
    bool known = false;
    Reading last;
  };

  std::optional<What> read_body(const std::string& kind, In& in, MonotonicTime told);
  void read_series(In& in);

  NamesRead names_;
  std::vector<Series> series_;
  std::map<PciAddress, Reading> last_outcome_;
  std::map<PciAddress, std::vector<ProcessInfo>> last_processes_;
  CostsSoFar costs_;
};

}  // namespace stoker::device::record
