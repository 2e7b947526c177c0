// Composition: what a run of `stoker diag` is to do, from its flags and the cards that are there.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diag/limits.h"
#include "diag/plan.h"
#include "diag_run.h"
#include "store/snapshot.h"

namespace stoker::app {

// The cards that --gpu names, as indexes; all if it names none. not_found: there is no such card, with those that are.
Result<std::vector<std::uint32_t>> chosen_gpus(const DiagFlags& flags,
                                               const store::Snapshot& snapshot);

struct DiagChoice {
  bool state = false;              // level 1
  std::vector<diag::Step> steps;   // what has to run
  std::vector<std::string> tests;  // of these steps, those that are told; empty: all
};
// invalid_input: no such level or test.
Result<DiagChoice> choose_tests(const DiagFlags& flags);

// Steps on those of `gpus` that are `testable`; of a simulated node its cards are made of threads, with the faults of the
// flags. A plan without cards tests nothing. invalid_input: no such injection or fault, or none of `gpus` for it.
Result<diag::Plan> make_plan(const DiagFlags& flags, const DiagChoice& choice,
                             const store::Snapshot& snapshot,
                             const std::vector<std::uint32_t>& gpus,
                             const std::vector<std::uint32_t>& testable);

std::vector<diag::CardTraits> traits_of(const store::Snapshot& snapshot, bool mig);

// Tests and faults, for people.
std::string diag_list();

}  // namespace stoker::app
