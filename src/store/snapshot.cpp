#include "store/snapshot.h"

#include <algorithm>

namespace stoker::store {
namespace {

constexpr auto by_id = [](const std::pair<FieldId, Reading>& entry, FieldId id) {
  return entry.first < id;
};

}  // namespace

void ReadingSet::set(FieldId id, const Reading& reading) {
  const auto at = std::lower_bound(readings_.begin(), readings_.end(), id, by_id);
  if (at != readings_.end() && at->first == id) {
    at->second = reading;
  } else {
    readings_.emplace(at, id, reading);
  }
}

Reading ReadingSet::get(FieldId id) const {
  const auto at = std::lower_bound(readings_.begin(), readings_.end(), id, by_id);
  return at != readings_.end() && at->first == id ? at->second : never_told_;
}

bool ReadingSet::has(FieldId id) const {
  const auto at = std::lower_bound(readings_.begin(), readings_.end(), id, by_id);
  return at != readings_.end() && at->first == id;
}

void ReadingSet::mark_all(Reason reason, MonotonicTime at) {
  never_told_ = Reading::none(reason, at);
  for (auto& [id, reading] : readings_) reading = never_told_;
}

void ReadingSet::mark_stale(MonotonicTime now, const std::vector<Nanoseconds>& max_age_by_field) {
  for (auto& [id, reading] : readings_) {
    const Nanoseconds allowed = max_age_by_field.at(static_cast<std::size_t>(id));
    if (!reading.ok() || allowed == Nanoseconds{0} || now - reading.taken_at <= allowed) continue;
    reading = Reading::none(Reason::stale, reading.taken_at, reading.took);
  }
}

Reason reason_of(device::SourceState state) {
  switch (state) {
    case device::SourceState::starting: return Reason::ok;
    case device::SourceState::running: return Reason::ok;
    case device::SourceState::released: return Reason::stale;
    case device::SourceState::library_missing: return Reason::driver_gone;
    case device::SourceState::driver_missing: return Reason::driver_gone;
    case device::SourceState::version_mismatch: return Reason::driver_gone;
    case device::SourceState::no_permission: return Reason::no_permission;
    case device::SourceState::driver_hung: return Reason::hung;
    case device::SourceState::failed: return Reason::failed;
  }
  return Reason::failed;
}

bool is_telling(device::SourceState state) { return reason_of(state) == Reason::ok; }

}  // namespace stoker::store
