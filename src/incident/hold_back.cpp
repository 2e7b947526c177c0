#include "incident/hold_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stoker::incident {
namespace {

// Does what `entity` hangs on answer?
bool answers_now(const Entity& entity, const NodeView& node) {
  if (entity.kind != EntityKind::gpu) return node.reading;
  const auto gpu = std::ranges::find_if(node.gpus, [&](const NodeView::Gpu& one) {
    return one.uuid == entity.id || one.pci.sysfs() == entity.id;
  });
  return gpu != node.gpus.end() && gpu->answers;
}

bool is_same_trouble(const Signal& one, const Signal& other) {
  return one.cause.word == other.cause.word && one.entity == other.entity &&
         one.subject == other.subject;
}

}  // namespace

void HoldBack::restore(Maintenance mark) {
  if (mark.boot == boot_) expected_.insert(mark.waiting.begin(), mark.waiting.end());
  // They wait again when they have been read again. Those of an earlier boot are over with it.
  if (mark.boot != boot_) mark.waiting.clear();
  mark_ = std::move(mark);
}

void HoldBack::begin(Maintenance mark) {
  mark.waiting.clear();
  for (const auto& one : waiting_) mark.waiting.push_back(one.origin);
  mark_ = std::move(mark);
}

void HoldBack::end(Book& book) {
  mark_.reset();
  for (const auto& one : std::exchange(waiting_, {})) book.hear(one.signal);
}

Nanoseconds HoldBack::left(const Now& now) const {
  return mark_ ? left_of(*mark_, boot_, now.monotonic - booted_, now) : Nanoseconds{0};
}

std::optional<WallTime> HoldBack::until(const Now& now) const {
  const auto more = left(now);
  if (more <= Nanoseconds{0}) return std::nullopt;
  return WallTime{now.wall.since_epoch + more};
}

void HoldBack::hold(std::vector<Finding>& findings, const Book& book, const NodeView& node,
                    const Now& now) const {
  const auto end = until(now);
  if (!end) return;
  for (Finding& finding : findings) {
    if (finding.severity == Severity::info || finding.state != FindingState::firing) continue;
    const auto signal = signal_of(finding, node, now.wall);
    // What an event has told already counts with its incident.
    if (signal ? book.has_home(*signal, now.wall) : book.has_open(finding.entity)) continue;
    finding.state = FindingState::suspect;
    finding.evidence.push_back(fmt::format("planned maintenance until {}, by {}{}{}",
                                           format_utc(*end), mark_->who,
                                           mark_->why.empty() ? "" : ": ", mark_->why));
  }
}

bool HoldBack::takes(const Event& event, const Signal& signal, Book& book, const Now& now) {
  expected_.erase(event.origin);
  if (left(now) <= Nanoseconds{0} || signal.cause.told_in_maintenance) return false;
  if (book.has_home(signal, now.wall)) return false;
  const bool waits = std::ranges::any_of(
      waiting_, [&](const Waiting& one) { return is_same_trouble(one.signal, signal); });
  // What passes by itself has passed by the end; what is of an earlier boot is over with it.
  if (waits || !signal.cause.stands || event.origin.boot != boot_) {
    book.recall(signal);
    return true;
  }
  if (waiting_.size() >= most_waiting) return false;
  waiting_.push_back({.signal = signal, .origin = event.origin});
  auto& places = mark_->waiting;
  if (std::ranges::find(places, event.origin) == places.end()) places.push_back(event.origin);
  return true;
}

void HoldBack::forget(const EventOrigin& origin) {
  if (mark_) std::erase(mark_->waiting, origin);
}

template <typename Over>
void HoldBack::let_go(Book& book, const Over& is_over) {
  std::erase_if(waiting_, [&](const Waiting& one) {
    if (!is_over(one)) return false;
    book.recall(one.signal);
    forget(one.origin);
    return true;
  });
}

void HoldBack::recovered(const Entity& gpu, Book& book) {
  let_go(book, [&](const Waiting& one) { return one.signal.entity == gpu; });
}

void HoldBack::pass(const NodeView& node, const Now& now, Book& book) {
  for (Waiting& one : waiting_) {
    const bool answers = answers_now(one.signal.entity, node);
    one.away |= one.answered && !answers;
    one.answered |= answers;
  }
  // A driver that was loaded again, or a reset.
  let_go(book,
         [&](const Waiting& one) { return one.away && answers_now(one.signal.entity, node); });
  if (mark_ && left(now) <= Nanoseconds{0}) end(book);
}

}  // namespace stoker::incident
