#include "diag_progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker::app {

double estimated_seconds(const diag::Plan& plan) {
  double out = 1;
  for (const auto step : plan.steps) {
    // On one card after the other; everything else on all at once.
    const double cards = step == diag::Step::pcie ? static_cast<double>(plan.cards.size()) : 1;
    out += diag::estimated_seconds(step) * cards;
    if (step == diag::Step::tensor) out += plan.load_seconds - 10;
  }
  return std::max(out, 1.0);
}

DiagProgress::DiagProgress(const diag::Plan& plan, bool shown)
    : shown_(shown), began_(system_clock().monotonic()), estimated_(estimated_seconds(plan)) {
  for (const auto& row : diag::test_rows()) {
    if (std::ranges::find(plan.steps, row.step) != plan.steps.end()) tests_ += plan.cards.size();
  }
}

DiagProgress::~DiagProgress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void DiagProgress::on_began(const diag::Began& began) { steps_[began.gpu] = began.step; }

void DiagProgress::on_found(const diag::Measurement& one) {
  ++found_;
  if (one.outcome == diag::Outcome::wrong || one.outcome == diag::Outcome::no_room) ++wrong_;
}

void DiagProgress::show() {
  if (!shown_) return;
  std::string at;
  for (const auto& [gpu, step] : steps_) {
    if (step == diag::Step::count_ || at.size() > 30) continue;
    at += fmt::format("{}GPU {} {}", at.empty() ? "" : ", ", gpu, diag::to_string(step));
  }
  const double passed = static_cast<double>((system_clock().monotonic() - began_).count()) * 1e-9;
  fmt::print(stderr, "\r\x1b[Ktesting: {}; {} of {} tests{}; about {:.0f} s left",
             at.empty() ? "opening" : at, found_, tests_,
             wrong_ == 0 ? "" : fmt::format(", {} FAILED", wrong_),
             std::max(estimated_ - passed, 1.0));
}

}  // namespace stoker::app
