#include "history/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "store/snapshot.h"

namespace stoker::history {
namespace {

// Windows shrink in steps of a fifth, down to a tenth: six minutes by reading, 2.4 hours by minute.
constexpr double shrink = 0.8;
constexpr double least_share = 0.1;

std::vector<int> places_of(const HistoryOptions& options) {
  std::vector<int> places(field_count, -1);
  int place = 0;
  for (const FieldId field : options.fields) places.at(static_cast<std::size_t>(field)) = place++;
  place = 0;
  for (const FieldId field : options.node_fields) {
    places.at(static_cast<std::size_t>(field)) = place++;
  }
  return places;
}

const Subject the_node{.kind = EntityKind::node, .gpu_uuid = "", .mig_uuid = ""};

}  // namespace

History::History(const Clock& clock, HistoryOptions options)
    : clock_(clock),
      options_(std::move(options)),
      places_(places_of(options_)),
      started_(clock.monotonic()),
      origin_{clock.wall().since_epoch} {}

HistoryTime History::time_of(MonotonicTime at) const {
  return {origin_.since_epoch + (at - started_)};
}

const std::vector<FieldId>& History::fields_of(const Subject& subject) const {
  return subject.kind == EntityKind::node ? options_.node_fields : options_.fields;
}

Windows History::windows(Nanoseconds period) const {
  const double share = share_;
  const auto slots = [share](Nanoseconds window, Nanoseconds step) {
    const auto full = static_cast<double>(window.count()) / static_cast<double>(step.count());
    return static_cast<std::size_t>(std::max(1.0, std::floor(full * share)));
  };
  return {
      .readings = slots(options_.readings_window, std::max<Nanoseconds>(period, Milliseconds(1))),
      .minutes = slots(options_.minutes_window, minute)};
}

std::size_t History::bytes_of(Nanoseconds period) const {
  const Windows now = windows(period);
  return beside_slots + Ring::bytes_of(Ring::Kind::readings, now.readings) +
         Ring::bytes_of(Ring::Kind::minutes, now.minutes);
}

void History::shorten() {
  share_ *= shrink;
  bytes_ = 0;
  for (auto& [subject, all] : series_) {
    for (auto& series : all) {
      if (!series) continue;
      series->resize(windows(series->period()));
      bytes_ += beside_slots + series->bytes();
    }
  }
}

bool History::give_up_oldest() {
  std::unique_ptr<Series>* oldest = nullptr;
  for (auto& [subject, all] : series_) {
    for (auto& series : all) {
      if (series && (oldest == nullptr || series->last_put() < (*oldest)->last_put())) {
        oldest = &series;
      }
    }
  }
  if (oldest == nullptr) return false;
  bytes_ -= beside_slots + (*oldest)->bytes();
  oldest->reset();
  ++given_up_;
  std::erase_if(series_, [](const auto& entry) {
    return std::ranges::all_of(entry.second, [](const auto& series) { return series == nullptr; });
  });
  return true;
}

bool History::make_room(Nanoseconds period) {
  while (bytes_ + bytes_of(period) > options_.memory_bytes) {
    if (share_ * shrink >= least_share) {
      shorten();
    } else if (!give_up_oldest()) {
      return false;
    }
  }
  return true;
}

void History::keep(const Subject& subject, std::size_t place, std::unique_ptr<Series> series) {
  bytes_ += beside_slots + series->bytes();
  auto& all = series_.try_emplace(subject).first->second;
  all.resize(fields_of(subject).size());
  all[place] = std::move(series);
}

Series* History::find(const Subject& subject, std::size_t place) const {
  const auto found = series_.find(subject);
  return found == series_.end() ? nullptr : found->second[place].get();
}

void History::take(const Subject& subject, std::size_t place, FieldId field,
                   const Reading& reading) {
  Series* series = find(subject, place);
  if (series == nullptr) {
    if (!reading.ok()) return;  // a field that this card has not needs no memory
    const Nanoseconds period = options_.period_of(stoker::field(field));
    if (period <= Nanoseconds{0}) return;
    if (!make_room(period)) {
      ++given_up_;
      return;
    }
    auto made = std::make_unique<Series>(stoker::field(field).kind, period, windows(period));
    series = made.get();
    keep(subject, place, std::move(made));
  }
  series->put(time_of(reading.taken_at), reading);
}

void History::no_values(const std::string& gpu_uuid, Reason reason) {
  const HistoryTime now = time_of(clock_.monotonic());
  for (auto& [subject, all] : series_) {
    if (subject.kind == EntityKind::node || subject.gpu_uuid != gpu_uuid) continue;
    for (auto& series : all) {
      if (series) series->put_reason(now, reason);
    }
  }
}

void History::on_status(const device::SourceStatus& status) {
  const Reason reason = store::reason_of(status.state);
  if (reason == Reason::ok) return;
  const MutexLock lock(mutex_);
  for (const auto& [pci, track] : gpus_) {
    if (track.telling) no_values(track.uuid, reason);
  }
}

void History::on_inventory(const std::vector<device::GpuInfo>& gpus) {
  const MutexLock lock(mutex_);
  std::map<PciAddress, Track> now;
  for (const device::GpuInfo& gpu : gpus) {
    if (gpu.uuid.empty()) continue;
    Track track{.uuid = gpu.uuid, .migs = {}};
    for (const device::MigInfo& mig : gpu.migs) track.migs.push_back(mig.uuid);
    now.emplace(gpu.pci, std::move(track));
  }
  for (const auto& [pci, track] : gpus_) {
    if (now.contains(pci) || !track.telling) continue;
    no_values(track.uuid, Reason::lost);
  }
  gpus_ = std::move(now);
}

void History::on_readings(const PciAddress& gpu,
                          const std::vector<device::TargetReading>& readings) {
  const MutexLock lock(mutex_);
  const auto found = gpus_.find(gpu);
  if (found == gpus_.end() || !found->second.telling) return;
  const Track& track = found->second;
  Subject subject{.kind = EntityKind::gpu, .gpu_uuid = track.uuid, .mig_uuid = ""};
  for (const device::TargetReading& told : readings) {
    const int place = places_.at(static_cast<std::size_t>(told.field));
    if (place < 0) continue;
    if (told.target.kind == EntityKind::mig) {
      if (told.target.number >= track.migs.size()) continue;
      subject.mig_uuid = track.migs[told.target.number];
    } else if (told.target.kind != EntityKind::gpu) {
      continue;
    }
    subject.kind = told.target.kind;
    take(subject, static_cast<std::size_t>(place), told.field, told.reading);
    subject.mig_uuid.clear();
  }
}

void History::on_gpu_state(const PciAddress& gpu, device::GpuState state,
                           const std::string& /*detail*/) {
  const MutexLock lock(mutex_);
  const auto found = gpus_.find(gpu);
  if (found == gpus_.end()) return;
  found->second.telling = state == device::GpuState::present;
  if (state == device::GpuState::hung) no_values(found->second.uuid, Reason::hung);
  if (state == device::GpuState::lost) no_values(found->second.uuid, Reason::lost);
}

void History::on_node_readings(const std::vector<std::pair<FieldId, Reading>>& readings) {
  const MutexLock lock(mutex_);
  for (const auto& [id, reading] : readings) {
    const int place = places_.at(static_cast<std::size_t>(id));
    if (place >= 0) take(the_node, static_cast<std::size_t>(place), id, reading);
  }
}

bool History::keeps(FieldId field) const {
  return places_.at(static_cast<std::size_t>(field)) >= 0;
}

Step History::step_for(Nanoseconds since) const {
  const MutexLock lock(mutex_);
  const auto reach = static_cast<double>(options_.readings_window.count()) * share_;
  return static_cast<double>(since.count()) <= reach ? Step::readings : Step::minutes;
}

std::vector<Answer> History::ask(FieldId field, Nanoseconds since, Step step) const {
  std::vector<Answer> answers;
  const int place = places_.at(static_cast<std::size_t>(field));
  if (place < 0) return answers;
  const auto at = static_cast<std::size_t>(place);
  const Nanoseconds wall = clock_.wall().since_epoch;
  const MutexLock lock(mutex_);
  const HistoryTime now = time_of(clock_.monotonic());
  const HistoryTime from{now.since_epoch - since};
  for (const auto& [subject, all] : series_) {
    if (fields_of(subject).size() <= at || fields_of(subject)[at] != field || !all[at]) continue;
    const Series& series = *all[at];
    const auto whole = [&series](float value) {
      return static_cast<double>(value) + series.offset();
    };
    Answer answer{.subject = subject,
                  .step = step == Step::readings ? series.period() : minute,
                  .values = {}};
    for (const Point& point :
         step == Step::readings ? series.readings(from, now) : series.minutes(from, now)) {
      answer.values.push_back({.at = {wall - (now.since_epoch - point.at.since_epoch)},
                               .least = whole(point.slot.least),
                               .mean = whole(point.slot.mean),
                               .most = whole(point.slot.most),
                               .mark = point.slot.mark});
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

HistoryFacts History::facts() const {
  const MutexLock lock(mutex_);
  HistoryFacts facts{.bytes = bytes_, .memory_bytes = options_.memory_bytes, .given_up = given_up_};
  for (const auto& [subject, all] : series_) {
    facts.series += static_cast<std::size_t>(
        std::ranges::count_if(all, [](const auto& series) { return series != nullptr; }));
  }
  const auto shortened = [share = share_](Nanoseconds window) {
    return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(window.count()) * share));
  };
  facts.readings_window = shortened(options_.readings_window);
  facts.minutes_window = shortened(options_.minutes_window);
  return facts;
}

std::string describe(const HistoryFacts& facts) {
  constexpr double mebibyte = 1024.0 * 1024;
  return fmt::format("{} series in {:.1f} of {:.0f} MiB: by reading {}, by minute {}", facts.series,
                     static_cast<double>(facts.bytes) / mebibyte,
                     static_cast<double>(facts.memory_bytes) / mebibyte,
                     format_duration(facts.readings_window), format_duration(facts.minutes_window));
}

}  // namespace stoker::history
