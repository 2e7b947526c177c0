#include "event/previous_boot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "event/boot_end.h"
#include "event/event_parser.h"
#include "event/log_line.h"
#include "os/boot_id.h"
#include "os/journal.h"
#include "os/pstore.h"

namespace stoker::event {
namespace {

// How far the end of a journal and the dump of the same crash may lie apart: journald writes to the disk every five
// minutes (SyncIntervalSec= of journald.conf(5)), so the last of them may be missing; and as much again for a machine that
// hangs before it gives up.
constexpr Seconds same_end{600};
// Without a journal: a dump this much older than the boot is of another boot than the last. Our choice.
constexpr Seconds recent_dump{86'400};

void read_journal(const os::Env& env, PreviousBoot& out) {
  for (const auto folder : os::journal_folders) {
    const auto tail = os::read_boot_before(env, folder, os::boot_id(env), boot_end_messages);
    if (!tail) {
      const bool none = tail.error().code() == ErrorCode::not_found;
      out.notes.push_back(none ? fmt::format("{}: there is no journal", folder)
                               : fmt::format("{}: {}", folder, tail.error().describe()));
      continue;
    }
    if (!*tail) {
      out.notes.push_back(fmt::format("{}: the journal has no boot before this one", folder));
      continue;
    }
    const auto& read = **tail;
    const auto ending = ending_of(read.messages);
    out = {.known = true,
           .boot = read.boot,
           .ended = read.ended,
           .end = ending.end,
           .why = ending.why,
           .source = std::string(folder),
           .records = read.kernel.size(),
           .notes = {},
           .events = {}};
    if (read.cut)
      out.notes.push_back(fmt::format("only its last {} records are read", out.records));
    EventParser parser;
    for (const auto& record : read.kernel) {
      const std::size_t first = out.events.size();
      parser.read({.text = record.text,
                   .program = record.by_program ? "" : "kernel",
                   .kernel = !record.by_program},
                  out.events);
      for (std::size_t n = first; n < out.events.size(); ++n) {
        out.events[n].time = record.time;
        out.events[n].origin = {read.boot, out.source, record.sequence};
        if (record.by_program) out.events[n].details.push_back({"writer", "program"});
      }
    }
    return;
  }
}

// The last line was said when the dump was written.
std::vector<Event> events_of(const os::PstoreDump& dump, const std::string& boot) {
  std::vector<Event> events;
  std::vector<std::optional<Nanoseconds>> stamps;
  std::optional<Nanoseconds> last;
  EventParser parser;
  LogLineReader reader;
  for (std::size_t begin = 0; begin < dump.text.size();) {
    const auto end = std::min(dump.text.find('\n', begin), dump.text.size());
    const auto raw = std::string_view(dump.text).substr(begin, end - begin);
    const auto line = reader.read(raw);
    const auto stamp = line.time.since_boot;
    if (stamp) last = stamp;
    parser.read({.text = line.text, .program = line.program, .kernel = line.kernel}, events);
    while (stamps.size() < events.size()) {
      events[stamps.size()].origin = {boot, fmt::format("{}/{}", dump.folder, dump.name), begin};
      stamps.push_back(stamp);
    }
    begin = end + 1;
  }
  for (std::size_t n = 0; n < events.size(); ++n) {
    if (!stamps[n]) continue;
    events[n].time = WallTime{dump.written.since_epoch - (*last - *stamps[n])};
  }
  return events;
}

bool is_of_that_boot(const os::PstoreDump& dump, const PreviousBoot& known, WallTime this_boot) {
  if (known.ended) {
    const auto apart = dump.written.since_epoch - known.ended->since_epoch;
    return apart <= same_end && -apart <= same_end;
  }
  return this_boot.since_epoch - dump.written.since_epoch <= recent_dump;
}

void take_dump(const os::PstoreDump& dump, PreviousBoot& out) {
  out.known = true;
  if (!out.ended) out.ended = dump.written;
  if (out.source.empty()) out.source = dump.folder;
  // An oops alone ends no boot.
  if (dump.reason == "Panic" || dump.reason == "Emergency") {
    out.end = BootEnd::unclean;
    out.why = fmt::format("the kernel left its last words in {}/{} ({})", dump.folder, dump.name,
                          dump.reason);
  } else if (out.why.empty()) {
    out.why = fmt::format("the kernel left a log in {}/{} ({})", dump.folder, dump.name,
                          dump.reason.empty() ? "it does not say why" : dump.reason);
  }
  std::set<std::string> known;
  for (const auto& event : out.events) known.insert(event.text);
  for (auto& event : events_of(dump, out.boot)) {
    // The journal had it already.
    if (!known.contains(event.text)) out.events.push_back(std::move(event));
  }
}

void read_dumps(const os::Env& env, PreviousBoot& out) {
  const auto pstore = os::read_pstore(env);
  for (const auto& one : pstore.skipped) out.notes.push_back(one);
  const auto& clock = env.clock();
  const WallTime this_boot{clock.wall().since_epoch - clock.monotonic().since_boot};
  const PreviousBoot of_journal{.ended = out.ended};
  std::size_t older = 0;
  bool taken = false;
  for (const auto& dump : pstore.dumps) {
    // Without a journal the newest alone: there may be a boot between two of them.
    const bool fits = is_of_that_boot(dump, of_journal, this_boot) && (of_journal.ended || !taken);
    if (fits) take_dump(dump, out);
    taken |= fits;
    older += fits ? 0 : 1;
  }
  if (older > 0) out.notes.push_back(fmt::format("{} dumps in pstore are of other boots", older));
}

}  // namespace

PreviousBoot read_previous_boot(const os::Env& env) {
  PreviousBoot out;
  read_journal(env, out);
  read_dumps(env, out);
  std::ranges::sort(out.events, [](const Event& a, const Event& b) {
    return std::tie(a.time, a.origin, a.text) < std::tie(b.time, b.origin, b.text);
  });
  for (auto& event : out.events)
    event.details.push_back({detail_previous_boot, to_string(out.end)});
  return out;
}

}  // namespace stoker::event
