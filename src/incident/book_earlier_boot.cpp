// Of Book: what is heard only after the boot in which it was said.
#include <fmt/format.h>

#include <algorithm>

#include "incident/book.h"

namespace stoker::incident {

// The newest that is about the same thing and of that boot. One of findings alone has no boot: then its times decide.
Incident* Book::of_earlier_boot(const Signal& about, const std::vector<Evidence>& lines) {
  Incident* newest = nullptr;
  for (auto& [id, incident] : incidents_) {
    if (incident.entity != about.entity || incident.cause == about.cause.word) continue;
    const bool then = incident.opened_at <= lines.back().at &&
                      incident.last_seen.since_epoch >= lines.front().at.since_epoch - Seconds(120);
    if (incident.boot.empty() ? then : incident.boot == about.boot) newest = &incident;
  }
  return newest;
}

void Book::hear_of_earlier_boot(const Signal& about, const std::vector<Evidence>& lines,
                                WallTime now) {
  if (lines.empty()) return;
  Incident* known = of_earlier_boot(about, lines);
  if (known == nullptr) {
    hear(about);
    known = home_of(about);
    if (known == nullptr) return;
  }
  std::size_t added = 0;
  for (const Evidence& line : lines) {
    const bool there = std::ranges::any_of(known->evidence, [&](const Evidence& one) {
      return one.text.find(line.text) != std::string::npos;
    });
    if (there) continue;
    add_evidence(*known, line.at, "of the boot before: " + line.text);
    ++added;
  }
  if (added > 0 && known->cause != about.cause.word) {
    note(*known, now, "stoker",
         fmt::format("the node went down uncleanly; of its last lines {} were not known", added));
  }
  changed_.insert(known->id);
}

}  // namespace stoker::incident
