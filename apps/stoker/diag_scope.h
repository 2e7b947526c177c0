// Composition: which of the cards that were asked for `stoker diag` can test, and why not the others. None of them is left
// out without a word.
#pragma once

#include <string>
#include <vector>

#include "diag/result.h"
#include "diag_plan.h"
#include "diag_run.h"
#include "store/snapshot.h"

namespace stoker::app {

struct DiagScope {
  std::vector<std::uint32_t> testable;  // indexes of GPUs
  std::vector<diag::TestResult>
      hindered;  // every wanted active test of every other card, and of those nobody can name
  std::vector<std::string> users;  // "GPU 1: process 42 (python3)": not empty: nothing is testable
};

// `gpus`: indexes of those that were asked for. Lost, hung, in MIG mode without --mig: hindered. A card that is in use
// hinders all: a job on one moves what another measures.
DiagScope scope_of(const DiagFlags& flags, const DiagChoice& choice,
                   const store::Snapshot& snapshot, const std::vector<std::uint32_t>& gpus);

}  // namespace stoker::app
