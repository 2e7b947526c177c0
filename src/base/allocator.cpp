#include "base/allocator.h"

#include <malloc.h>

namespace stoker {

// mallopt(3): as shipped, glibc puts what is allocated into an arena of its own for nearly every thread,
// and raises both thresholds to the size of the largest block that was freed, so that an arena keeps
// as much. The thresholds are their first values; setting one ends their rising.
void settle_allocator() {
  constexpr int most_arenas = 2;
  constexpr int threshold_bytes = 128 * 1024;
  mallopt(M_ARENA_MAX, most_arenas);
  mallopt(M_MMAP_THRESHOLD, threshold_bytes);
  mallopt(M_TRIM_THRESHOLD, threshold_bytes);
}

}  // namespace stoker
