#include "base/allocator.h"

#include <malloc.h>

namespace stoker {

// mallopt(3): as shipped, glibc raises both thresholds to the size of the largest block that was freed,
// so that an arena keeps as much. These are their first values; setting one ends their rising.
void settle_allocator() {
  constexpr int threshold_bytes = 128 * 1024;
  mallopt(M_MMAP_THRESHOLD, threshold_bytes);
  mallopt(M_TRIM_THRESHOLD, threshold_bytes);
  // A thread that looks at the node once a second needs no arena of its own, which keeps what its largest look took.
  constexpr int arenas = 2;
  mallopt(M_ARENA_MAX, arenas);
}

}  // namespace stoker
