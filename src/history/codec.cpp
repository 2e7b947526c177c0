// History stage: the whole history as bytes, and back. Numbers stand in the machine's own order: the
// file never leaves it. A file of another version, of another size or with anything that can't be is
// refused whole.
#include <algorithm>

#include "history/history.h"

namespace stoker::history {
namespace {

using wire::Reader;
using wire::Writer;

constexpr std::string_view magic = "stoker history 1";
constexpr std::string_view end_mark = "end";

Error corrupt(const char* what) {
  return {ErrorCode::corrupt, std::string("this is no history: ") + what};
}

}  // namespace

Result<void> History::write_to(const Sink& sink) const {
  std::vector<Subject> subjects;
  {
    Writer head;
    head.text(magic);
    const MutexLock lock(mutex_);
    head.duration(time_of(clock_.monotonic()).since_epoch);
    for (const auto& [subject, all] : series_) subjects.push_back(subject);
    head.count(subjects.size());
    if (auto done = sink(head.take()); !done) return done;
  }
  // One subject at a time, so that readings do not wait for the disk.
  for (const Subject& subject : subjects) {
    Writer part;
    {
      const MutexLock lock(mutex_);
      const auto found = series_.find(subject);
      part.word(subject.kind);
      part.text(subject.gpu_uuid);
      part.text(subject.mig_uuid);
      const auto& fields = fields_of(subject);
      const std::size_t count =
          found == series_.end()
              ? 0
              : static_cast<std::size_t>(std::ranges::count_if(
                    found->second, [](const auto& series) { return series != nullptr; }));
      part.count(count);
      for (std::size_t place = 0; count > 0 && place < found->second.size(); ++place) {
        if (!found->second[place]) continue;
        part.text(field(fields[place]).name);
        found->second[place]->write_to(part);
      }
    }
    if (auto done = sink(part.take()); !done) return done;
  }
  Writer tail;
  tail.text(end_mark);
  return sink(tail.take());
}

Result<std::map<Subject, History::SeriesOfFields>> History::decode(std::string_view bytes,
                                                                   HistoryTime& saved_at) {
  Reader in(bytes);
  if (in.text() != magic) return fail(corrupt("it does not begin as one of this version"));
  saved_at = {in.duration()};
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
      if (!series || !series->ends_by(saved_at)) return fail(corrupt("a series in it can't be"));
      const auto place = id ? std::ranges::find(fields, *id) : fields.end();
      if (place == fields.end()) continue;  // no longer asked for
      of_fields[static_cast<std::size_t>(place - fields.begin())] =
          std::make_unique<Series>(std::move(*series));
    }
    all.insert_or_assign(std::move(subject), std::move(of_fields));
  }
  if (in.text() != end_mark || !in.done()) return fail(corrupt("it does not end as one"));
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
