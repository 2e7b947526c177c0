// Diag stage: which card has been idle for long enough to be tested now. Pure: what is seen of the node is given, and what time
// it is. Whatever is not known counts as use.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "store/snapshot.h"

namespace stoker::diag {

struct IdleOptions {
  Nanoseconds idle{0};   // this long without use
  Nanoseconds every{0};  // at most so often
  bool spread = false;   // so that the cards of many nodes do not work at once
};

struct IdleNow {
  const store::Snapshot& snapshot;
  std::set<std::string>
      held;  // UUIDs of cards that something is wrong with: nobody is to touch them
  std::map<std::string, WallTime> tested;  // by UUID, when a card was tested last
};

class IdleWatch {
 public:
  explicit IdleWatch(IdleOptions options) : options_(options) {}

  // One look; those before count. The UUID of the card that is to be tested now: of those that are due the one that was tested
  // longest ago. Where they are spread, each waits for up to a tenth of `every` longer, by its UUID, and one that
  // was never tested until up to twice `idle` after the first look. A card is idle where the driver says within the last half minute that it has no process, works at nothing
  // and holds no memory, and where no pod holds it; a MIG card never is.
  std::optional<std::string> look(const IdleNow& now);
  // It was begun: until it is looked at again as any other, its idle time begins anew.
  void begun(const std::string& uuid);

 private:
  IdleOptions options_;
  std::optional<MonotonicTime> first_look_;
  std::map<std::string, MonotonicTime> idle_since_;  // by UUID; not in it: in use, or not known
};

// Why this card counts as used; empty: it is idle.
std::string use_of(const store::GpuSnapshot& gpu, const store::Snapshot& snapshot);

}  // namespace stoker::diag
