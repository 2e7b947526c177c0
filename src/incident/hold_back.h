// Incident stage: while somebody works on the node on purpose, what goes away opens no incident. What is found stays a
// suspicion; of what is heard, a fault of a card that no maintenance makes is told as ever (causes.def, `maintenance`),
// and the rest waits. At the end, what still holds is told at once. Pure. docs/specs/incidents.md has it for people.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "incident/book.h"
#include "incident/maintenance.h"
#include "incident/signal.h"
#include "model/event.h"
#include "model/finding.h"
#include "model/maintenance.h"

namespace stoker::incident {

class HoldBack {
 public:
  // What waits at once; one more is told as ever, so that no storm can hide a fault.
  static constexpr std::size_t most_waiting = 256;

  // `boot`: boot id; `booted`: when it began, by the monotonic clock: zero but in a story of several boots.
  explicit HoldBack(std::string boot, MonotonicTime booted = {})
      : boot_(std::move(boot)), booted_(booted) {}

  // Of before a restart. What waited then is expected to be read again.
  void restore(Maintenance mark);
  void begin(Maintenance mark);
  // What waited is told as it is.
  void end(Book& book);
  [[nodiscard]] const std::optional<Maintenance>& mark() const { return mark_; }
  // nullopt: nothing is held back. Else until when, by the wall clock of now.
  [[nodiscard]] std::optional<WallTime> until(const Now& now) const;

  // Makes suspicions of what would open an incident, with why.
  void hold(std::vector<Finding>& findings, const Book& book, const NodeView& node,
            const Now& now) const;
  // Of an event that was not heard before, or waits: true where it is not to be told now; the book then has it as
  // evidence for later, or it waits here.
  bool takes(const Event& event, const Signal& signal, Book& book, const Now& now);
  // Was it read before a restart, and waited then?
  [[nodiscard]] bool expects(const Event& event) const { return expected_.contains(event.origin); }
  // The driver says that this GPU needs nothing any more: what waited about it is over.
  void recovered(const Entity& gpu, Book& book);
  // Time has passed, and this is what is seen of the node. What waited about a GPU that went away and came back is over.
  // At the end what waits is told.
  void pass(const NodeView& node, const Now& now, Book& book);

 private:
  struct Waiting {
    Signal signal;
    EventOrigin origin;
    bool answered = false;  // its GPU, since this is watched
    bool away = false;      // and then no more
  };
  [[nodiscard]] Nanoseconds left(const Now& now) const;
  void forget(const EventOrigin& origin);
  template <typename Over>
  void let_go(Book& book, const Over& is_over);

  // Constant after construction.
  const std::string boot_;
  const MonotonicTime booted_;

  std::optional<Maintenance> mark_;
  std::vector<Waiting> waiting_;
  std::set<EventOrigin> expected_;
};

}  // namespace stoker::incident
