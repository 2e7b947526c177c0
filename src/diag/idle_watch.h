// Diag stage: which card has been idle for long enough to be tested now. Pure: what is seen of the node is given, and what time
// it is. Whatever is not known counts as use.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "model/test_schedule.h"
#include "store/snapshot.h"

namespace stoker::diag {

struct IdleOptions {
  Nanoseconds idle{0};   // this long without use
  Nanoseconds every{0};  // at most so often
  bool spread = false;   // so that the cards of many nodes do not work at once
};

// Why nobody is to touch a card now.
struct Obstacle {
  TestState state = TestState::unknown;
  std::string why;
};

struct IdleNow {
  const store::Snapshot& snapshot;
  std::map<std::string, Obstacle>
      held;  // by UUID, whoever else may use it; its idle time begins anew
  std::map<std::string, WallTime> tested;           // by UUID, when a card was tested last
  std::map<std::string, MonotonicTime> not_before;  // by UUID, likewise; it is idle from then on
};

// `waits`: what is in the way, and until when.
struct IdleCard {
  Obstacle now;
  std::optional<WallTime> next;
};
struct IdleLook {
  std::optional<std::string> due;  // the UUID of the card that is to be tested now
  std::map<std::string, IdleCard> cards;
};

class IdleWatch {
 public:
  explicit IdleWatch(IdleOptions options) : options_(options) {}

  // One look; those before count. Of the cards that are due it is the one that was tested longest ago. Where they are spread, each waits for up to a tenth of `every` longer, by its UUID, and one that
  // was never tested until up to twice `idle` after the first look. A card is idle where the driver says within the last half minute that it has no process, works at nothing
  // and holds no memory, and where no pod holds it; a MIG card never is.
  IdleLook look(const IdleNow& now);
  // It was begun: until it is looked at again as any other, its idle time begins anew.
  void begun(const std::string& uuid);

 private:
  [[nodiscard]] Nanoseconds idle_left(const std::string& uuid, const IdleNow& now) const;
  [[nodiscard]] Nanoseconds turn_left(const std::string& uuid, const IdleNow& now) const;

  IdleOptions options_;
  std::optional<MonotonicTime> first_look_;
  std::map<std::string, MonotonicTime> idle_since_;  // by UUID; not in it: in use, or not known
};

// Why this card counts as used; nullopt: it is idle.
std::optional<Obstacle> use_of(const store::GpuSnapshot& gpu, const store::Snapshot& snapshot);
// The part of it that pods have: one holds it, or that is not known.
std::optional<Obstacle> pods_of(const std::string& uuid, const store::Snapshot& snapshot);

}  // namespace stoker::diag
