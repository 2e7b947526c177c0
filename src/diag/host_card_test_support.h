// Test support: a small card of this host, whole or faulty.
#pragma once

#include <string>
#include <vector>

#include "diag/host_card.h"
#include "diag/measurement.h"

namespace stoker::diag {

inline std::unique_ptr<Card> small_card(const HostFaults& faults = {}, std::uint32_t index = 0) {
  return make_host_card({.facts = {.index = index,
                                   .uuid = "GPU-" + std::to_string(index),
                                   .name = "NVIDIA H200",
                                   .compute_capability = 90,
                                   .multiprocessors = 6,
                                   .shared_bytes = 1 << 16,
                                   .memory_bytes = 8 << 20,
                                   .simulated = true},
                         .faults = faults});
}

// The measurement of `test`, which has to be there once.
inline Measurement only(const std::vector<Measurement>& all, const std::string& test) {
  std::vector<Measurement> found;
  for (const auto& one : all) {
    if (one.test == test) found.push_back(one);
  }
  if (found.size() != 1) return {.test = test + ": not there once", .outcome = Outcome::hindered};
  return found.front();
}

}  // namespace stoker::diag
