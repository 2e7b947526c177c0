// Diag stage: what a test found on one card, before limits judge it (judge.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace stoker::diag {

enum class Outcome : std::uint8_t {
  measured,  // the value is what the card did
  wrong,     // the card did it wrongly, whatever the value; `reason` says what
  absent,    // not tested: there is no such thing on this card, or it was not asked for
  hindered,  // not tested: it could not be, so nobody knows
};

struct Measurement {
  std::string test;  // row of tests.def, "memory_read"
  std::uint32_t gpu = 0;
  std::string peer;  // "GPU 3" where it is about two cards
  Outcome outcome = Outcome::measured;
  double value = 0;  // in `unit`; 0 where there is none
  std::string unit;  // "bytes_per_second", "operations_per_second", "errors", "seconds", …
  std::string reason;
  std::vector<std::string> details;  // addresses, multiprocessors; a line each
  // While the card was at it, for readings of that time; both 0: it was too short to tell.
  MonotonicTime began;
  MonotonicTime ended;
};

// An error of a card as the outcome of `test`: what a card has not, or what somebody else's use forbids, is no fault of
// it; anything else is.
inline Measurement not_done(std::string test, std::uint32_t gpu, const Error& error) {
  const bool absent = error.code() == ErrorCode::not_supported;
  const bool hindered =
      error.code() == ErrorCode::no_permission || error.code() == ErrorCode::cancelled;
  return {.test = std::move(test),
          .gpu = gpu,
          .outcome = absent     ? Outcome::absent
                     : hindered ? Outcome::hindered
                                : Outcome::wrong,
          .reason = error.describe()};
}

}  // namespace stoker::diag
