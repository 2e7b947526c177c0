// Sample stage: which calls of one GPU are due when. Pure: no clock, no driver.
//
// A call that delivers several fields is made once. Time goes in ticks of the shortest period; calls
// of slower classes are spread over the ticks of their period, so that rounds cost alike.
//
// Costs are measured while running, and decide: a getter whose median call takes more than five
// times the most that its class may take moves to the next slower period, until it takes less than
// half of that again. Five times, because the classes are an order of magnitude apart (cheap <= 20 µs,
// firmware <= 1 ms, measured in docs/measurements.md): a cheap call over 100 µs has become a round
// trip to the firmware, while a busy machine or a simulated driver that sleeps a few µs stays below.
// The median of the last nine calls, because one call that waited long says nothing about the next;
// the first judgement after three, so that a call of 18.5 ms in the firmware class (NVLink errors of
// 18 links on an H200, docs/measurements.md) is not made nine times before it moves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "catalog/field.h"
#include "device/api.h"
#include "device/probe/rates.h"

namespace stoker::sample {

// One call: a getter with the fields of one cost class.
struct CallGroup {
  Getter getter = Getter::count_;
  CostClass cost = CostClass::cheap;
  std::vector<const Field*> fields;
};

class Schedule {
 public:
  // For every row of `fields` that a GPU's getters deliver. The GPUs of a node are due at the same moment, and read one
  // after the other (device/probe/turns.h) while caches are warm.
  Schedule(const std::vector<const Field*>& fields, const device::probe::SampleRates& rates);

  // The calls that are due in the round that begins now, by index into groups(); the first round has
  // them all. Rounds that were missed (a slow call, a stopped process) are skipped, not made up for.
  const std::vector<std::size_t>& begin_round(MonotonicTime now);
  // When the next round with anything due begins.
  [[nodiscard]] MonotonicTime next_round() const;
  // Whether the list of processes, or what may change while a GPU is open, is due in this round.
  [[nodiscard]] bool processes_due() const { return processes_due_; }
  [[nodiscard]] bool refresh_due() const { return refresh_due_; }

  void measured(std::size_t group, Nanoseconds took);
  // Values that are read once are read again in the next round (the GPU's MIG devices changed).
  void read_fixed_again();

  [[nodiscard]] const std::vector<CallGroup>& groups() const { return groups_; }
  // The period of a group as measured costs have it; zero for `fixed`.
  [[nodiscard]] Nanoseconds period(std::size_t group) const;

  static constexpr std::size_t median_of = 9;
  static constexpr std::size_t judge_from = 3;
  // The most that one call of a class costs (docs/measurements.md); demotion begins at five times it.
  static Nanoseconds most_of(CostClass cost);

 private:
  struct State {
    std::int64_t every = 1;   // ticks; 0: once
    std::int64_t slower = 1;  // ticks while demoted
    std::int64_t phase = 0;   // which tick of the period
    std::int64_t due = 0;     // the tick
    bool demoted = false;
    std::int64_t stretched = 1;  // ticks to the next call while demoted, up to `slower`
    std::array<std::int64_t, median_of> costs{};
    std::size_t measured = 0;
  };
  [[nodiscard]] std::int64_t ticks(Nanoseconds period) const;
  // A call that has just been demoted comes less often step by step: a value is told as current for
  // three of the intervals in which it came, and for five seconds at least (store/store.h), so that it
  // must not grow old only because the next one comes later than those before.
  void plan_next(State& state) const;
  bool fires(std::int64_t& due, std::int64_t every) const;

  // Constant after construction.
  const device::probe::SampleRates rates_;
  const Nanoseconds tick_;
  std::vector<CallGroup> groups_;

  std::vector<State> states_;
  std::vector<std::size_t> due_;
  bool begun_ = false;
  MonotonicTime origin_;
  std::int64_t now_ = 0;  // the tick of this round
  std::int64_t processes_at_ = 0;
  std::int64_t refresh_at_ = 0;
  bool processes_due_ = false;
  bool refresh_due_ = false;
};

// The rows that are read from a GPU by a call, in the order of the field table.
std::vector<const Field*> gpu_fields();

}  // namespace stoker::sample
