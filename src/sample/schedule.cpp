#include "sample/schedule.h"

#include <algorithm>

namespace stoker::sample {
namespace {

using device::probe::period_of;
using device::probe::SampleRates;
using device::probe::scaled;
using device::probe::tick_of;

constexpr int demote_factor = 5;

bool read_by_call(const Field& field) {
  switch (field.getter) {
    case Getter::derived:
    case Getter::processes:
    case Getter::node_cpu:
    case Getter::node_memory:
    case Getter::node_filesystem: return false;
    default: return field.entity != EntityKind::node;
  }
}

std::vector<CallGroup> group_by_call(const std::vector<const Field*>& fields) {
  std::vector<CallGroup> groups;
  for (const Field* field : fields) {
    const auto same = std::ranges::find_if(groups, [field](const CallGroup& group) {
      return group.getter == field->getter && group.cost == field->cost;
    });
    if (same != groups.end()) {
      same->fields.push_back(field);
    } else {
      groups.push_back({field->getter, field->cost, {field}});
    }
  }
  return groups;
}

}  // namespace

std::vector<const Field*> gpu_fields() {
  std::vector<const Field*> fields;
  for (const Field& row : all_fields()) {
    if (read_by_call(row)) fields.push_back(&row);
  }
  return fields;
}

Nanoseconds Schedule::most_of(CostClass cost) {
  switch (cost) {
    case CostClass::cheap: return std::chrono::microseconds(20);
    case CostClass::firmware:
    case CostClass::gpm: return Milliseconds(1);
    case CostClass::dear:
    case CostClass::rare:
    case CostClass::fixed: return Seconds(1);
  }
  return Seconds(1);
}

Schedule::Schedule(const std::vector<const Field*>& fields, const SampleRates& rates)
    : rates_(rates), tick_(tick_of(rates)), groups_(group_by_call(fields)) {
  refresh_at_ = ticks(rates.refresh);  // what was just opened is not read again at once
  std::int64_t spread = 0;
  for (const CallGroup& group : groups_) {
    State state;
    const bool once = group.cost == CostClass::fixed;
    state.every = once ? 0 : ticks(period_of(rates, group.cost));
    state.slower =
        once ? 0 : std::max(state.every, ticks(period_of(rates, slower_class(group.cost))));
    if (state.every > 1) state.phase = spread++;
    states_.push_back(state);
  }
}

std::int64_t Schedule::ticks(Nanoseconds period) const {
  return std::max<std::int64_t>(1, scaled(period, rates_.scale) / tick_);
}

void Schedule::plan_next(State& state) const {
  std::int64_t every = state.every;
  if (state.demoted) {
    const std::int64_t step = std::max<std::int64_t>(state.stretched * 5 / 2, Seconds(4) / tick_);
    state.stretched = std::min(state.slower, step);
    every = state.stretched;
  }
  if (every == 0) {
    state.due = -1;
    return;
  }
  if (state.demoted && every < state.slower) {
    state.due = now_ + every;
    return;
  }
  // The next tick after this one that has the group's phase.
  const std::int64_t phase = state.phase % every;
  const std::int64_t behind = ((now_ - phase) % every + every) % every;
  state.due = now_ + every - behind;
}

bool Schedule::fires(std::int64_t& due, std::int64_t every) const {
  if (now_ < due) return false;
  due = now_ + every;
  return true;
}

const std::vector<std::size_t>& Schedule::begin_round(MonotonicTime now) {
  if (!begun_) {
    begun_ = true;
    // The first round is now: /metrics is complete at once. Later ones begin at
    // multiples of the tick since boot, so that whoever wakes in a node wakes at the same time.
    origin_ = {now.since_boot / tick_ * tick_};
  } else {
    now_ = std::max(now_ + 1, (now - origin_) / tick_);
  }
  due_.clear();
  for (std::size_t group = 0; group < states_.size(); ++group) {
    State& state = states_[group];
    if (state.due < 0 || state.due > now_) continue;
    due_.push_back(group);
    plan_next(state);
  }
  processes_due_ = fires(processes_at_, ticks(rates_.processes));
  refresh_due_ = fires(refresh_at_, ticks(rates_.refresh));
  return due_;
}

MonotonicTime Schedule::next_round() const {
  std::int64_t tick = std::min(processes_at_, refresh_at_);
  for (const State& state : states_) {
    if (state.due >= 0) tick = std::min(tick, state.due);
  }
  return origin_ + std::max(tick, now_ + 1) * tick_;
}

void Schedule::measured(std::size_t group, Nanoseconds took) {
  State& state = states_.at(group);
  state.costs.at(state.measured++ % median_of) = took.count();
  if (!rates_.demote || state.measured < judge_from || state.every == 0) return;
  const Nanoseconds limit = most_of(groups_[group].cost) * demote_factor;
  if (!state.demoted && took <= limit)
    return;  // the median has not risen over the limit by this one
  auto sorted = state.costs;
  const auto known = static_cast<std::ptrdiff_t>(std::min(state.measured, median_of));
  const auto middle = sorted.begin() + known / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + known);
  const Nanoseconds median(*middle);
  if (state.demoted ? median < limit / 2 : median > limit) {
    state.demoted = !state.demoted;
    state.stretched = state.every;
    plan_next(state);
  }
}

void Schedule::read_fixed_again() {
  for (State& state : states_) {
    if (state.every == 0) state.due = now_ + 1;
  }
}

Nanoseconds Schedule::period(std::size_t group) const {
  const State& state = states_.at(group);
  return tick_ * (state.demoted ? state.slower : state.every);
}

}  // namespace stoker::sample
