// Diag stage: how many threads a kernel gets.
#pragma once

#include "diag/card.h"

namespace stoker::diag {

// For a kernel whose threads walk over `bytes` of memory: full occupancy of every multiprocessor (2,048 threads on data
// centre parts, 1,024 on Turing: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability").
inline Launch streaming(const CardFacts& facts, Kernel kernel, double bytes,
                        Work::Unit unit = Work::Unit::memory) {
  const std::uint32_t threads = facts.simulated ? 32 : 512;
  const std::uint32_t blocks = facts.simulated ? 1 : 4;
  return {.kernel = kernel,
          .blocks = facts.multiprocessors * blocks,
          .threads = threads,
          .work = {.bytes = bytes, .unit = unit}};
}

}  // namespace stoker::diag
