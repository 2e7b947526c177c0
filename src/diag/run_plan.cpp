#include "diag/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/thread_safety.h"
#include "diag/check_compute.h"
#include "diag/check_memory.h"
#include "diag/check_nccl.h"
#include "diag/check_peers.h"
#include "diag/check_tensor.h"
#include "diag/measure_rates.h"
#include "diag/sizes.h"

namespace stoker::diag {
namespace {

class PlanRun {
 public:
  PlanRun(const Plan& plan, const Cards& cards, const Tell& tell, const std::atomic<bool>& stop)
      : plan_(plan), cards_(cards), tell_(tell), stop_(stop) {}

  void run() {
    {
      std::vector<std::jthread> threads;
      threads.reserve(cards_.size());
      for (const auto& card : cards_) threads.emplace_back([this, &card] { run_alone(*card); });
    }
    if (asked_for(Step::pcie)) {
      for (const auto& card : cards_) run_step(Step::pcie, *card);
    }
    run_together(Step::peers, check_peers);
    run_together(Step::nccl, check_nccl);
    for (const auto& card : cards_) say(Began{card->facts().index, Step::count_});
  }

 private:
  [[nodiscard]] bool asked_for(Step step) const {
    return std::ranges::find(plan_.steps, step) != plan_.steps.end();
  }
  void say(const Message& message) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    tell_(message);
  }
  void tell_all(const std::vector<Measurement>& found) {
    for (const auto& one : found) say(one);
  }

  void run_alone(Card& card) {
    // Rates before the patterns, whose memory the driver clears when it is given back.
    for (const Step step : {Step::bandwidth, Step::memory, Step::compute, Step::tensor}) {
      if (asked_for(step)) run_step(step, card);
    }
  }

  void run_together(Step step, std::vector<Measurement> (*check)(const Cards&)) {
    if (!asked_for(step) || cards_.empty()) return;
    for (const auto& card : cards_) say(Began{card->facts().index, step});
    if (!stop_) tell_all(check(cards_));
  }

  void run_step(Step step, Card& card) {
    if (stop_) return;
    say(Began{card.facts().index, step});
    tell_all(measured(step, card));
  }

  std::vector<Measurement> measured(Step step, Card& card) {
    const Sizes sizes = sizes_for(card.facts());
    switch (step) {
      case Step::memory: {
        std::vector<std::uint64_t> flipped;
        MemoryOptions options{.share = plan_.memory_share};
        if (plan_.injection.bit_flips > 0)
          options.meddle = flip_bits(plan_.injection.bit_flips, flipped);
        std::vector<std::uint64_t> wrong;
        options.wrong = &wrong;
        auto found = check_memory(card, options);
        if (!options.meddle) return found;
        if (!flipped.empty() && wrong == flipped) {
          found.front().details.insert(
              found.front().details.begin(),
              fmt::format("all {} found, each at its address", flipped.size()));
        } else if (found.front().outcome == Outcome::measured) {
          found.front().outcome = Outcome::hindered;
          found.front().reason =
              fmt::format("{} bits were flipped, and none was found", flipped.size());
        }
        return found;
      }
      case Step::bandwidth: return measure_memory(card);
      case Step::compute:
        return check_compute(card, {.rounds = sizes.compute_rounds,
                                    .repeats = sizes.compute_repeats,
                                    .wrong_multiprocessor = plan_.injection.wrong_multiprocessor});
      case Step::tensor:
        return check_tensor(card, {.load_seconds = plan_.load_seconds,
                                   .library_seconds = std::min(3.0, plan_.load_seconds),
                                   .stopped = [this] { return stop_.load(); }});
      case Step::pcie: return measure_pcie(card);
      case Step::peers:
      case Step::nccl:
      case Step::count_: break;
    }
    return {};
  }

  const Plan& plan_;
  const Cards& cards_;
  const Tell& tell_;
  const std::atomic<bool>& stop_;
  Mutex mutex_;
};

}  // namespace

void run_plan(const Plan& plan, const Cards& cards, const Tell& tell,
              const std::atomic<bool>& stop) {
  PlanRun(plan, cards, tell, stop).run();
}

}  // namespace stoker::diag
