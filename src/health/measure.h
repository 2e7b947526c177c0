// Health stage: what a snapshot says about one condition of a check, for one subject. Pure and without memory.
#pragma once

#include <optional>
#include <vector>

#include "health/check.h"
#include "health/hold.h"
#include "health/operand.h"

namespace stoker::health {

// A value, or why there is none.
struct Measured {
  std::optional<double> number;
  Reason reason = Reason::pending;  // while there is no number
  MonotonicTime at;                 // when the newest part of it was read
};

// The sum of the operands.
Measured sum_of(const std::vector<Operand>& operands, const Subject& subject);
Measured limit_of(const Limit& limit, const Subject& subject);

// Does `value` meet the condition's relation, with this limit where it is an ordering?
Truth compare(const Condition& condition, const Measured& value, const Measured& limit);
// Do all of a check's further conditions hold?
Truth meanwhile(const Check& check, const Subject& subject);

// Is the check about this card's product and architecture?
bool applies_to(const Check& check, const store::GpuSnapshot& gpu);

// The median of `sorted` without one element that equals `own`; nullopt with fewer than two others, for one
// other alone can't say which of the two is odd.
std::optional<double> median_of_others(const std::vector<double>& sorted, double own);

}  // namespace stoker::health
