#include "base/allocator.h"

#include <malloc.h>

namespace stoker {

// mallopt(3): as shipped, glibc raises both thresholds to the size of the largest block that was freed,
// so that an arena keeps as much. These are their first values; setting one ends their rising.
void settle_allocator() {
  constexpr int threshold_bytes = 128 * 1024;
  mallopt(M_MMAP_THRESHOLD, threshold_bytes);
  mallopt(M_TRIM_THRESHOLD, threshold_bytes);
}

}  // namespace stoker
