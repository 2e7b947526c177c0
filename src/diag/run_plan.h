// Diag stage: runs a plan on cards; in the worker process, or in a test.
#pragma once

#include <atomic>
#include <functional>

#include "diag/card.h"
#include "diag/plan.h"

namespace stoker::diag {

// Hears Began and Measurement, from several threads, one at a time.
using Tell = std::function<void(const Message&)>;

// bandwidth, memory, compute and tensor run on all cards at once, a thread each; then pcie on one card after the other, and
// peers on all of them. `stop` is asked between tests and during loads; what it cut off is told as hindered.
void run_plan(const Plan& plan, const Cards& cards, const Tell& tell,
              const std::atomic<bool>& stop);

}  // namespace stoker::diag
