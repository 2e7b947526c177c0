// Diag stage: the seam to the vendor's library of collectives (NCCL), which works with all cards of a process at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::diag {

class Collectives {
 public:
  virtual ~Collectives() = default;
  [[nodiscard]] virtual std::string version() const = 0;  // "NCCL 2.28.9"
  // Puts into the first queue of every card: to `to` there the sums of 32-bit words (that wrap) of all cards' `from`; addresses
  // by card, in the order in which the library was opened for them. May return before it is done. Errors: not_found where the
  // library itself refuses, which says nothing of a card; io as Card's.
  virtual Result<void> all_reduce(const std::vector<std::uint64_t>& from,
                                  const std::vector<std::uint64_t>& to, std::uint64_t words) = 0;
};

}  // namespace stoker::diag
