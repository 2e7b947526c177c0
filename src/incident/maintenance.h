// Incident stage: how long a planned maintenance lasts, whatever becomes of the clocks and of the node meanwhile. Pure.
#pragma once

#include <string>

#include "base/clock.h"
#include "incident/now.h"
#include "model/maintenance.h"

namespace stoker::incident {

// After a planned boot links train and services come up one after another. Ten minutes are our choice: on a fleet of 288
// nodes links that were down after planned reboots were up within one poll
// (https://github.com/NVIDIA/NVSentinel/pull/1715), and our own checks of the fabric wait for five.
inline constexpr Seconds boot_grace{600};
// What is longer is no maintenance but a node out of service. Our choice.
inline constexpr Seconds longest_maintenance{7 * 86'400};

// How long from `now` on it still holds; zero: it is over. `boot`: the boot that runs now, `up`: for how long it has.
// - In the boot in which it began the kernel's own clock counts: setting the wall clock changes nothing.
// - Where the node was booted meanwhile, it holds until its end and at least until boot_grace is over.
// - A boot that began after its end has nothing to do with it. Where the wall clock says that this boot began before the
//   maintenance did, the clock is wrong, and what is known for sure is the boot: boot_grace alone.
// Never longer than it was asked for, counted from the boot on, or boot_grace.
Nanoseconds left_of(const Maintenance& mark, const std::string& boot, Nanoseconds up,
                    const Now& now);

}  // namespace stoker::incident
