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
  no_room,   // its memory was refused: a fault, unless somebody else has it
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

// An error of a card as the outcome of `test`: what a card has not, what it needs of the machine, or what somebody else's use
// forbids, is no fault of it; memory that is refused may be one; anything else is.
inline Measurement not_done(std::string test, std::uint32_t gpu, const Error& error) {
  const auto outcome_of = [](ErrorCode code) {
    switch (code) {
      case ErrorCode::not_supported: return Outcome::absent;
      case ErrorCode::unavailable: return Outcome::no_room;
      case ErrorCode::not_found:
      case ErrorCode::no_permission:
      case ErrorCode::invalid_input:
      case ErrorCode::cancelled: return Outcome::hindered;
      default: return Outcome::wrong;
    }
  };
  return {.test = std::move(test),
          .gpu = gpu,
          .outcome = outcome_of(error.code()),
          .reason = error.describe()};
}

}  // namespace stoker::diag
