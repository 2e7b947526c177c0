#include "store/snapshot.h"

#include <algorithm>

namespace stoker::store {

std::size_t ReadingSet::place_of(FieldId id) const {
  const auto at =
      std::lower_bound(readings_.begin(), readings_.end(), id,
                       [](const auto& entry, FieldId wanted) { return entry.first < wanted; });
  return static_cast<std::size_t>(at - readings_.begin());
}

bool ReadingSet::has(FieldId id) const {
  const std::size_t place = place_of(id);
  return place < readings_.size() && readings_[place].first == id;
}

Reading ReadingSet::get(FieldId id) const {
  return has(id) ? readings_[place_of(id)].second : never_told_;
}

void ReadingSet::set(FieldId id, const Reading& reading) {
  const std::size_t place = place_of(id);
  const auto offset = static_cast<std::ptrdiff_t>(place);
  if (!has(id)) {
    readings_.emplace(readings_.begin() + offset, id, reading);
    intervals_.insert(intervals_.begin() + offset, Nanoseconds{0});
    return;
  }
  Reading& before = readings_[place].second;
  if (before.ok() && reading.taken_at < before.taken_at) return;
  intervals_[place] = before.ok() && reading.taken_at > before.taken_at
                          ? reading.taken_at - before.taken_at
                          : Nanoseconds{0};
  before = reading;
}

void ReadingSet::mark_all(Reason reason, MonotonicTime at) {
  never_told_ = Reading::none(reason, at);
  for (auto& [id, reading] : readings_) reading = never_told_;
  std::fill(intervals_.begin(), intervals_.end(), Nanoseconds{0});
}

void ReadingSet::mark_stale(MonotonicTime now, const std::vector<AllowedAge>& allowed_by_field) {
  for (std::size_t place = 0; place < readings_.size(); ++place) {
    auto& [id, reading] = readings_[place];
    const AllowedAge& allowed = allowed_by_field.at(static_cast<std::size_t>(id));
    if (!reading.ok() || allowed.usual == Nanoseconds{0}) continue;
    const Nanoseconds age = std::clamp(3 * intervals_[place], allowed.usual, allowed.most);
    if (now - reading.taken_at <= age) continue;
    reading = Reading::none(Reason::stale, reading.taken_at, reading.took);
  }
}

const GpuSnapshot* gpu_at(const Snapshot& snapshot, const PciAddress& pci) {
  const auto found =
      std::ranges::find(snapshot.gpus, pci, [](const GpuSnapshot& gpu) { return gpu.info.pci; });
  return found == snapshot.gpus.end() ? nullptr : &*found;
}

const GpuSnapshot* gpu_with(const Snapshot& snapshot, std::string_view uuid) {
  const auto found = std::ranges::find(
      snapshot.gpus, uuid, [](const GpuSnapshot& gpu) { return std::string_view(gpu.info.uuid); });
  return found == snapshot.gpus.end() ? nullptr : &*found;
}

std::optional<DriverVersion> driver_version(const Snapshot& snapshot) {
  if (!snapshot.driver) return std::nullopt;
  return DriverVersion::parse(snapshot.driver->driver_version);
}

std::optional<bool> is_simulated(const Snapshot& snapshot) {
  if (snapshot.driver) return snapshot.driver->simulated;
  return snapshot.simulated_profile.empty() ? std::nullopt : std::optional(true);
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

std::string_view state_of(const GpuSnapshot& gpu, const Snapshot& snapshot) {
  if (gpu.state != device::GpuState::present) return device::to_string(gpu.state);
  return is_telling(snapshot.source.state) ? "present" : "unknown";
}

bool is_telling(device::SourceState state) { return reason_of(state) == Reason::ok; }

}  // namespace stoker::store
