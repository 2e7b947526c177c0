// Fabric analyzer: what the counters of both ends say of a cable.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fabric/signs.h"

namespace stoker::fabric {
namespace {

// Errors a bit that no link may have: IBTA's 10^-12, which ibdiagnet takes by default
// (https://docs.nvidia.com/networking/display/ibdiagnetusermanualv219/Bit+Error+Rate+(BER)).
constexpr double worst_bit_error_rate = 1e-12;
constexpr double bits_of_gbps = 1e9;

// One counter of one end between the two sweeps; without an earlier one, as it stands.
struct CountSeen {
  const CounterRow* row = nullptr;
  Counted counted;
  CounterReading now;
};

struct EndCounts {
  PortName end;
  std::vector<CountSeen> seen;  // only what was counted
};

struct CableCounts {
  std::vector<EndCounts> ends;
  std::optional<Nanoseconds> apart;  // none: no earlier sweep of this cable, or its clock was ahead
  bool compared = false;
};

EndCounts count_end(const PortName& end, const Port& now, const Port* before) {
  EndCounts counts{.end = end, .seen = {}};
  for (const CounterRow& row : counter_rows()) {
    const auto index = static_cast<std::size_t>(row.id);
    const auto& reading = now.counters.at(index);
    if (!reading) continue;
    Counted counted{.least = reading->value};
    if (before != nullptr) {
      if (!before->counters.at(index)) continue;
      counted = counted_between(*before->counters.at(index), *reading);
    }
    if (counted.least > 0 || counted.blind) counts.seen.push_back({&row, counted, *reading});
  }
  return counts;
}

CableCounts count_cable(const Look& look, const Cable& cable) {
  CableCounts counts;
  const Port* before = look.previous == nullptr ? nullptr : look.previous->port(cable.one);
  counts.compared = before != nullptr && before->peer == cable.other;
  if (counts.compared && look.now.taken > look.previous->taken) {
    counts.apart = look.now.taken.since_epoch - look.previous->taken.since_epoch;
  }
  for (const PortName& end : {cable.one, cable.other}) {
    const Port* now = look.now.port(end);
    if (now == nullptr) continue;
    const Port* earlier = counts.compared ? look.previous->port(end) : nullptr;
    if (counts.compared && earlier == nullptr) continue;
    counts.ends.push_back(count_end(end, *now, earlier));
  }
  return counts;
}

std::string in_time(const CableCounts& counts) {
  return counts.apart ? " in " + format_duration(*counts.apart) : std::string();
}

std::string count_text(const CountSeen& seen) {
  return fmt::format("{}{} {}", seen.counted.exact ? "" : "at least ", seen.counted.least,
                     seen.row->words);
}

// "S-leaf1 port 8: 1200 symbol errors, at least 3 times down in 5 min (symbol_error now 65535, its highest)".
std::string evidence_of(const Look& look, const CableCounts& counts, const EndCounts& end) {
  std::vector<std::string> parts;
  std::string notes;
  for (const CountSeen& seen : end.seen) {
    if (seen.row->group == CounterGroup::traffic) continue;
    parts.push_back(count_text(seen));
    if (seen.now.full()) notes += fmt::format("; {} is full", seen.row->name);
    if (seen.counted.fell) notes += fmt::format("; {} began anew", seen.row->name);
  }
  if (parts.empty())
    return fmt::format("{}: nothing counted{}", look.end_text(end.end), in_time(counts));
  return fmt::format("{}: {}{}{}", look.end_text(end.end), fmt::join(parts, ", "), in_time(counts),
                     notes);
}

bool too_many(const CountSeen& seen, const CableCounts& counts, const LinkRate& rate) {
  if (seen.counted.least < seen.row->too_many) return false;
  if (seen.row->id != CounterId::symbol_error || !counts.apart) return true;
  const auto gbps = gbps_of(rate);
  if (!gbps) return true;
  const double seconds = std::chrono::duration<double>(*counts.apart).count();
  const double errors_a_bit =
      static_cast<double>(seen.counted.least) / (seconds * *gbps * bits_of_gbps);
  return errors_a_bit > worst_bit_error_rate;
}

// Whose sending arrives broken at whom.
std::string signal_cause(const Look& look, const Cable& cable, bool at_one, bool at_other) {
  if (at_one && at_other) {
    return "Both ends receive broken signals: the cable is likelier than two ports.";
  }
  const PortName& receiver = at_one ? cable.one : cable.other;
  const PortName& sender = at_one ? cable.other : cable.one;
  return fmt::format("What {} sends arrives broken at {}: the sender, the cable or the receiver.",
                     look.end_text(sender), look.end_text(receiver));
}

void add_signal_sign(const Look& look, const Cable& cable, const CableCounts& counts,
                     std::vector<Sign>& signs) {
  std::vector<std::string> parts;
  bool at_one = false;
  bool at_other = false;
  for (const EndCounts& end : counts.ends) {
    const LinkRate rate = look.now.port(end.end)->rate;
    for (const CountSeen& seen : end.seen) {
      if (seen.row->tells != CounterTells::signal || !too_many(seen, counts, rate)) continue;
      parts.push_back(fmt::format("{} at {}", count_text(seen), look.end_text(end.end)));
      (end.end == cable.one ? at_one : at_other) = true;
    }
  }
  if (parts.empty()) return;
  signs.push_back({.verdict = Verdict::bad,
                   .severity = Severity::error,
                   .message = fmt::format("{}{}", fmt::join(parts, ", "), in_time(counts)),
                   .cause = signal_cause(look, cable, at_one, at_other)});
}

// The end that counted most says how often: both count one loss of the link.
void add_drop_sign(const Look& look, const Cable& cable, const CableCounts& counts,
                   std::vector<Sign>& signs) {
  Sign sign{.verdict = Verdict::flapping, .blamed = {cable.one.node, cable.other.node}};
  std::vector<std::string> parts;
  for (const EndCounts& end : counts.ends) {
    for (const CountSeen& seen : end.seen) {
      if (seen.row->tells != CounterTells::drop || seen.counted.least == 0) continue;
      parts.push_back(fmt::format("{} at {}", count_text(seen), look.end_text(end.end)));
      sign.times = std::max(sign.times, seen.counted.least);
      if (seen.counted.least >= seen.row->too_many) sign.severity = Severity::error;
    }
  }
  if (parts.empty()) return;
  sign.message = fmt::format("{}{}", fmt::join(parts, ", "), in_time(counts));
  signs.push_back(std::move(sign));
}

void add_blind_sign(const Look& look, const CableCounts& counts, std::vector<Sign>& signs) {
  std::vector<std::string> parts;
  for (const EndCounts& end : counts.ends) {
    for (const CountSeen& seen : end.seen) {
      if (seen.counted.blind && seen.row->tells != CounterTells::other) {
        parts.push_back(fmt::format("{} of {} is full", seen.row->name, look.end_text(end.end)));
      }
    }
  }
  if (parts.empty()) return;
  signs.push_back(
      {.verdict = Verdict::blind, .message = fmt::format("{}", fmt::join(parts, ", "))});
}

// Without an earlier sweep a count has no time, and so says nothing of today.
void add_counted_sign(const Look& look, const CableCounts& counts, std::vector<Sign>& signs) {
  std::vector<std::string> parts;
  for (const EndCounts& end : counts.ends) {
    for (const CountSeen& seen : end.seen) {
      if (seen.row->tells == CounterTells::other || seen.counted.least < seen.row->too_many)
        continue;
      parts.push_back(fmt::format("{}{} {} at {}", seen.now.full() ? "at least " : "",
                                  seen.counted.least, seen.row->words, look.end_text(end.end)));
    }
  }
  if (parts.empty()) return;
  signs.push_back({.verdict = Verdict::counted,
                   .severity = Severity::info,
                   .message = fmt::format("{}, since when is not known", fmt::join(parts, ", "))});
}

}  // namespace

void add_counter_signs(const Look& look, const Cable& cable, std::vector<Sign>& signs) {
  const CableCounts counts = count_cable(look, cable);
  const std::size_t before = signs.size();
  if (counts.compared) {
    add_drop_sign(look, cable, counts, signs);
    add_signal_sign(look, cable, counts, signs);
    add_blind_sign(look, counts, signs);
  } else {
    add_counted_sign(look, counts, signs);
  }
  if (signs.size() == before) return;
  for (const EndCounts& end : counts.ends) {
    signs[before].evidence.push_back(evidence_of(look, counts, end));
  }
}

}  // namespace stoker::fabric
