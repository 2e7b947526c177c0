// History stage: the whole history as bytes, and back. Numbers stand in the machine's own order: the
// file never leaves it. A file of another version, of another size or with anything that can't be is
// refused whole.
#include <algorithm>

#include "history/history.h"

namespace stoker::history {
namespace {

using wire::Reader;
using wire::Writer;

constexpr std::string_view magic = "stoker history 2";
constexpr std::string_view end_mark = "end";
constexpr const char* impossible = "a series in it can't be";

Error corrupt(const char* what) {
  return {ErrorCode::corrupt, std::string("this is no history: ") + what};
}

}  // namespace

std::string History::bytes_of_one(const Subject& subject, std::size_t place) const {
  Writer part;
  const MutexLock lock(mutex_);
  const Series* series = find(subject, place);
  if (series == nullptr) {  // given up since; what has no name is passed over when it is read
    part.text("");
    Series(FieldKind::gauge, minute, {1, 1}).write_to(part);
    return part.take();
  }
  part.text(field(fields_of(subject)[place]).name);
  part.expect(series->bytes());
  series->write_to(part);
  return part.take();
}

// One series at a time: readings do not wait for the disk, and no more memory is taken than for one.
Result<void> History::write_to(const Sink& sink) const {
  std::map<Subject, std::vector<std::size_t>> places;
  {
    const MutexLock lock(mutex_);
    for (const auto& [subject, all] : series_) {
      for (std::size_t place = 0; place < all.size(); ++place) {
        if (all[place]) places[subject].push_back(place);
      }
    }
  }
  Writer head;
  head.text(magic);
  head.count(places.size());
  if (auto done = sink(head.take()); !done) return done;
  for (const auto& [subject, of_subject] : places) {
    Writer title;
    title.word(subject.kind);
    title.text(subject.gpu_uuid);
    title.text(subject.mig_uuid);
    title.count(of_subject.size());
    if (auto done = sink(title.take()); !done) return done;
    for (const std::size_t place : of_subject) {
      if (auto done = sink(bytes_of_one(subject, place)); !done) return done;
    }
  }
  // The time of the end: readings came in between.
  Writer tail;
  {
    const MutexLock lock(mutex_);
    tail.duration(time_of(clock_.monotonic()).since_epoch);
  }
  tail.text(end_mark);
  return sink(tail.take());
}

Result<std::map<Subject, History::SeriesOfFields>> History::decode(std::string_view bytes,
                                                                   HistoryTime& saved_at) {
  Reader in(bytes);
  if (in.text() != magic) return fail(corrupt("it does not begin as one of this version"));
  std::map<Subject, SeriesOfFields> all;
  const std::size_t subjects = in.count(8);
  for (std::size_t n = 0; n < subjects && in.ok(); ++n) {
    Subject subject{
        .kind = in.word(EntityKind::file), .gpu_uuid = in.text(), .mig_uuid = in.text()};
    const auto& fields = fields_of(subject);
    SeriesOfFields of_fields(fields.size());
    const std::size_t count = in.count(8);
    for (std::size_t m = 0; m < count && in.ok(); ++m) {
      const auto id = find_field(in.text());
      auto series = Series::read_from(in, id ? field(*id).kind : FieldKind::gauge);
      if (!series) return fail(corrupt(impossible));
      const auto place = id ? std::ranges::find(fields, *id) : fields.end();
      if (place == fields.end()) continue;  // no longer asked for
      of_fields[static_cast<std::size_t>(place - fields.begin())] =
          std::make_unique<Series>(std::move(*series));
    }
    all.insert_or_assign(std::move(subject), std::move(of_fields));
  }
  saved_at = {in.duration()};
  if (in.text() != end_mark || !in.done()) return fail(corrupt("it does not end as one"));
  for (const auto& [subject, of_fields] : all) {
    const bool possible = std::ranges::all_of(of_fields, [&](const auto& series) {
      return series == nullptr || series->ends_by(saved_at);
    });
    if (!possible) return fail(corrupt(impossible));
  }
  return all;
}

Result<void> History::read_from(std::string_view bytes) {
  const MutexLock lock(mutex_);
  HistoryTime saved_at;
  auto all = decode(bytes, saved_at);
  if (!all) return fail(all.error());
  // A clock that was set back in between: what is kept stays in order, one minute apart.
  origin_ = std::max(origin_, HistoryTime{saved_at.since_epoch + minute});
  for (auto& [subject, of_fields] : *all) {
    for (std::size_t place = 0; place < of_fields.size(); ++place) {
      auto& series = of_fields[place];
      if (!series) continue;
      const Nanoseconds period = options_.period_of(field(fields_of(subject)[place]));
      if (period <= Nanoseconds{0} || !make_room(period)) continue;
      series->go_on(period, windows(period));
      keep(subject, place, std::move(series));
    }
  }
  return {};
}

}  // namespace stoker::history
