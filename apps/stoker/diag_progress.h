// Composition: how far a run of `stoker diag` is, on a terminal.
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "diag/plan.h"

namespace stoker::app {

class DiagProgress {
 public:
  // `shown`: standard error is a terminal, and progress is wanted.
  DiagProgress(const diag::Plan& plan, bool shown);
  ~DiagProgress();
  DiagProgress(const DiagProgress&) = delete;
  DiagProgress& operator=(const DiagProgress&) = delete;

  void on_began(const diag::Began& began);
  void on_found(const diag::Measurement& one);
  // One line that replaces the one before: "testing: GPU 0 tensor, GPU 1 compute; 12 of 96 tests; about 20 s left".
  void show();

 private:
  const bool shown_;
  const MonotonicTime began_;
  double estimated_ = 0;  // seconds, in all
  std::size_t tests_ = 0;
  std::size_t found_ = 0;
  std::size_t wrong_ = 0;
  std::map<std::uint32_t, diag::Step> steps_;
};

// How long a plan takes, for people.
double estimated_seconds(const diag::Plan& plan);

}  // namespace stoker::app
