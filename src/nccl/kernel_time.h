// NCCL analyzer: was it during the job, what a kernel log tells? Neither log need say its zone, so that only what is
// farther apart than any two zones is told apart for sure.
#pragma once

#include <vector>

#include "model/finding.h"
#include "nccl/job.h"

namespace stoker::nccl {

enum class When : std::uint8_t {
  unknown,  // one of the two has no time, or it is not known when the job began
  may_be_during,
  hours_before,  // or at another place of the world
  days_before,
};

// Of one of Facts::kernel.
When when_of(const KernelEvent& event, const Job& job, const Facts& facts);

// Notes on what was too long before the job to be its cause.
std::vector<Finding> too_early(const Job& job, const Facts& facts);

}  // namespace stoker::nccl
