#include "device/record/names.h"

#include <algorithm>

namespace stoker::device::record {
namespace {

// The first of the enumeration's values up to `last` that is called `word`.
template <typename E, typename Name>
E find_word(std::string_view word, E last, E otherwise, Name name) {
  for (int n = 0; n <= static_cast<int>(last); ++n) {
    if (word == name(static_cast<E>(n))) return static_cast<E>(n);
  }
  return otherwise;
}

}  // namespace

std::uint64_t NamesWritten::number_of(std::string_view name) {
  const auto [at, added] = numbers_.try_emplace(std::string(name), numbers_.size() + 1);
  if (added) fresh_.emplace_back(name);
  return at->second;
}

bool NamesRead::add(std::string_view name) {
  if (names_.size() >= max_names) return false;
  names_.emplace_back(name);
  return true;
}

const std::string* NamesRead::find(std::uint64_t number) const {
  return number == 0 || number > names_.size() ? nullptr : &names_[number - 1];
}

Reason reason_of(std::string_view word) {
  return find_word(word, Reason::failed, Reason::failed,
                   [](Reason reason) { return stoker::to_string(reason); });
}

GpuState gpu_state_of(std::string_view word) {
  return find_word(word, GpuState::hung, GpuState::lost,
                   [](GpuState state) { return device::to_string(state); });
}

SourceState source_state_of(std::string_view word) {
  return find_word(word, SourceState::failed, SourceState::failed,
                   [](SourceState state) { return device::to_string(state); });
}

LinkEnd link_end_of(std::string_view word) {
  return find_word(word, LinkEnd::other, LinkEnd::unknown,
                   [](LinkEnd end) { return record::to_string(end); });
}

EntityKind entity_kind_of(std::string_view word) {
  return stoker::entity_kind_of(word).value_or(EntityKind::file);
}

Getter getter_of(std::string_view word) {
  return find_word(word, static_cast<Getter>(static_cast<int>(Getter::count_) - 1), Getter::count_,
                   [](Getter getter) { return stoker::to_string(getter); });
}

FieldId field_of(std::string_view name) {
  const auto rows = all_fields();
  const auto row = std::ranges::find(rows, name, &Field::name);
  return row == rows.end() ? FieldId::count_ : row->id;
}

const char* to_string(LinkEnd end) {
  switch (end) {
    case LinkEnd::unknown: return "unknown";
    case LinkEnd::gpu: return "gpu";
    case LinkEnd::nvswitch: return "nvswitch";
    case LinkEnd::other: return "other";
  }
  return "unknown";
}

}  // namespace stoker::device::record
