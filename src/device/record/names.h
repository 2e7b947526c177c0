// Device stage: the words of a recording. What a build of Stoker numbers as it likes (fields, getters,
// reasons, members) stands in the file by name; each name is written once and then referred to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catalog/field.h"
#include "device/api.h"
#include "model/reading.h"

namespace stoker::device::record {

// Fields, getters, reasons, members and GPUs' addresses are a few hundred.
inline constexpr std::size_t max_names = 65'536;

// The names so far, from the writer's side.
class NamesWritten {
 public:
  // 1 for the first name. A name that is new is kept for fresh().
  std::uint64_t number_of(std::string_view name);
  // The new names since the last call, in order.
  std::vector<std::string> fresh() { return std::exchange(fresh_, {}); }
  [[nodiscard]] bool full() const { return numbers_.size() >= max_names; }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> fresh_;
};

// From the reader's side. A number that was never written gives nullptr.
class NamesRead {
 public:
  bool add(std::string_view name);
  [[nodiscard]] const std::string* find(std::uint64_t number) const;

 private:
  std::vector<std::string> names_;
};

// The word as this build knows it; what it does not know is the last argument, or none.
Reason reason_of(std::string_view word);             // unknown: failed
GpuState gpu_state_of(std::string_view word);        // unknown: lost
SourceState source_state_of(std::string_view word);  // unknown: failed
LinkEnd link_end_of(std::string_view word);          // unknown: unknown
EntityKind entity_kind_of(std::string_view word);    // unknown: file, of which nothing is read
Getter getter_of(std::string_view word);             // unknown: count_
FieldId field_of(std::string_view name);             // unknown: count_
const char* to_string(LinkEnd end);

}  // namespace stoker::device::record
