#include "incident/earlier_boot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace stoker::incident {
namespace {

constexpr const char* source_of_earlier = "docs/specs/events.md";

bool is_of_a_card(const Signal& signal) {
  using enum Family;
  const Family family = signal.cause.family;
  const bool card =
      signal.entity.kind == EntityKind::gpu || signal.entity.kind == EntityKind::nvswitch;
  const bool fault = family == bus || family == firmware || family == memory || family == board ||
                     family == link || family == pcie || family == driver;
  return card && fault && signal.severity >= Severity::error;
}

// What heads it: the worst, and of several the first.
Signal headed_by(const Signal& worst, const PreviousBoot& boot, WallTime now) {
  Signal about = worst;
  about.cause = cause_before_reboot();
  about.boot = boot.boot;
  about.subject.clear();
  about.programs.clear();
  about.severity = about.cause.severity;
  about.action = Action::observe;
  about.of_driver = false;
  about.at = now;
  about.message = fmt::format("Before the node went down uncleanly{}: {}",
                              boot.ended ? " at " + format_utc(*boot.ended) : "", worst.message);
  about.explanation = fmt::format(
      "That boot did not end on purpose ({}). Nobody saw it alive: what the "
      "kernel said last is from {}",
      boot.why, boot.source);
  about.fix =
      "Run the diagnosis on it before it takes work again, e.g. dcgmi diag -r 3; nothing else is "
      "to be done because of lines of an earlier boot";
  about.source = source_of_earlier;
  about.evidence = fmt::format("the boot before this one ended uncleanly: {}", boot.why);
  return about;
}

}  // namespace

std::vector<LastWords> last_words(const PreviousBoot& boot, const NodeView& node, WallTime now) {
  if (boot.end != BootEnd::unclean) return {};
  std::map<Entity, LastWords> all;
  std::map<Entity, Signal> worst;
  for (const Event& event : boot.events) {
    // Somebody who tries their alerts is not the driver.
    if (detail(event, "writer") == "program") continue;
    const auto signal = signal_of(event, node, boot.ended.value_or(now));
    if (!signal || !is_of_a_card(*signal)) continue;
    auto& of_it = all[signal->entity];
    of_it.lines.push_back({signal->at, signal->evidence});
    const auto known = worst.find(signal->entity);
    if (known == worst.end() || known->second.cause.rank < signal->cause.rank) {
      worst.insert_or_assign(signal->entity, *signal);
    }
  }
  std::vector<LastWords> words;
  for (auto& [entity, one] : all) {
    one.about = headed_by(worst.at(entity), boot, now);
    words.push_back(std::move(one));
  }
  return words;
}

std::string name_of(const PreviousBoot& boot) {
  if (!boot.boot.empty()) return boot.boot;
  return boot.ended ? "dump of " + format_utc(*boot.ended) : std::string("unknown");
}

}  // namespace stoker::incident
