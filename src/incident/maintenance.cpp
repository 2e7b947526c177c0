#include "incident/maintenance.h"

#include <algorithm>

namespace stoker::incident {

Nanoseconds left_of(const Maintenance& mark, const std::string& boot, Nanoseconds up,
                    const Now& now) {
  const Nanoseconds none{0};
  const Nanoseconds length = mark.ends.since_epoch - mark.began.since_epoch;
  // The kernel's clock begins anew with each boot.
  if (mark.boot == boot && now.monotonic >= mark.began_at) {
    return std::max(none, length - (now.monotonic - mark.began_at));
  }
  const Nanoseconds booted = now.wall.since_epoch - up;
  if (booted > mark.ends.since_epoch) return none;
  const Nanoseconds grace = std::max<Nanoseconds>(none, boot_grace - up);
  if (booted < mark.began.since_epoch) return grace;
  const Nanoseconds by_wall = mark.ends.since_epoch - now.wall.since_epoch;
  return std::max(grace, std::min(by_wall, length - up));
}

}  // namespace stoker::incident
