#include "sample/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace stoker::sample {
namespace {

using device::probe::period_of;
using device::probe::SampleRates;

// Runs a schedule for `time` with calls that cost what `cost_of` says; counts calls by group.
template <typename CostOf>
std::map<std::size_t, int> run(Schedule& schedule, Nanoseconds time, CostOf cost_of,
                               MonotonicTime start = MonotonicTime{Seconds(1000)}) {
  std::map<std::size_t, int> calls;
  MonotonicTime now = start;
  while (now < start + time) {
    for (const std::size_t group : schedule.begin_round(now)) {
      ++calls[group];
      schedule.measured(group, cost_of(group));
    }
    now = schedule.next_round();
  }
  return calls;
}

Nanoseconds nothing(std::size_t /*group*/) { return Nanoseconds{0}; }

Schedule default_schedule(const SampleRates& rates = {}) { return Schedule(gpu_fields(), rates); }

TEST(Schedule, MakesOneCallForAllFieldsOfAGetterAndCostClass) {
  const Schedule schedule = default_schedule();
  std::size_t fields = 0;
  for (const CallGroup& group : schedule.groups()) {
    fields += group.fields.size();
    for (const Field* field : group.fields) {
      EXPECT_EQ(field->getter, group.getter);
      EXPECT_EQ(field->cost, group.cost);
    }
  }
  EXPECT_EQ(fields, gpu_fields().size());
}

TEST(Schedule, LeavesOutWhatNoCallOfAGpuDelivers) {
  for (const Field* field : gpu_fields()) {
    EXPECT_NE(field->getter, Getter::derived);
    EXPECT_NE(field->entity, EntityKind::node);
  }
}

TEST(Schedule, ReadsEverythingInTheFirstRound) {
  Schedule schedule = default_schedule();
  EXPECT_EQ(schedule.begin_round(MonotonicTime{}).size(), schedule.groups().size());
  EXPECT_TRUE(schedule.processes_due());
}

TEST(Schedule, ReadsEachClassAtItsPeriod) {
  const SampleRates rates;
  Schedule schedule = default_schedule(rates);
  const auto calls = run(schedule, Seconds(600), nothing);
  for (std::size_t group = 0; group < schedule.groups().size(); ++group) {
    const CostClass cost = schedule.groups()[group].cost;
    const int times = calls.at(group);
    const double seconds = std::chrono::duration<double>(period_of(rates, cost)).count();
    EXPECT_NEAR(times, cost == CostClass::fixed ? 1 : 600 / seconds, 1) << to_string(cost);
  }
}

TEST(Schedule, SpreadsSlowCallsOverTheRounds) {
  Schedule schedule = default_schedule();
  MonotonicTime now;
  schedule.begin_round(now);
  std::size_t fewest = schedule.groups().size();
  std::size_t most = 0;
  for (int round = 0; round < 60; ++round) {
    now = schedule.next_round();
    const auto due = schedule.begin_round(now).size();
    fewest = std::min(fewest, due);
    most = std::max(most, due);
  }
  EXPECT_LE(most - fewest, 5U);
}

TEST(Schedule, DividesEveryPeriodByTheScale) {
  SampleRates rates;
  rates.scale = 20;
  Schedule schedule = default_schedule(rates);
  const auto calls = run(schedule, Seconds(60), nothing);
  for (std::size_t group = 0; group < schedule.groups().size(); ++group) {
    const CostClass cost = schedule.groups()[group].cost;
    const double seconds = std::chrono::duration<double>(period_of(rates, cost)).count();
    EXPECT_NEAR(calls.at(group), cost == CostClass::fixed ? 1 : 20 * 60 / seconds, 1);
  }
}

TEST(Schedule, MovesACallThatCostsFarMoreThanItsClassToASlowerPeriod) {
  Schedule schedule = default_schedule();
  const auto calls = run(schedule, Seconds(200), [&schedule](std::size_t group) -> Nanoseconds {
    if (schedule.groups()[group].cost != CostClass::cheap) return Nanoseconds{0};
    return std::chrono::microseconds(150);
  });
  for (std::size_t group = 0; group < schedule.groups().size(); ++group) {
    if (schedule.groups()[group].cost != CostClass::cheap) continue;
    EXPECT_EQ(schedule.period(group), Seconds(15));
    EXPECT_LE(calls.at(group), 3 + 20);
  }
}

// store/store.h: a value is current for three of the intervals in which it came, and for five seconds.
TEST(Schedule, NeverLetsAValueGrowOldOnlyBecauseItsCallIsMovedToASlowerPeriod) {
  Schedule schedule = default_schedule();
  std::map<std::size_t, std::vector<MonotonicTime>> called;
  MonotonicTime now{Seconds(1000)};
  while (now.since_boot < Seconds(1200)) {
    for (const std::size_t group : schedule.begin_round(now)) {
      if (schedule.groups()[group].cost != CostClass::cheap) continue;
      called[group].push_back(now);
      schedule.measured(group, std::chrono::microseconds(150));
    }
    now = schedule.next_round();
  }
  for (const auto& [group, times] : called) {
    for (std::size_t n = 2; n < times.size(); ++n) {
      const Nanoseconds before = times[n - 1] - times[n - 2];
      EXPECT_LE(times[n] - times[n - 1], std::max<Nanoseconds>(3 * before, Seconds(5)));
    }
  }
}

TEST(Schedule, LeavesACallThatCostsALittleMoreThanItsClassWhereItIs) {
  Schedule schedule = default_schedule();
  run(schedule, Seconds(100),
      [](std::size_t) -> Nanoseconds { return std::chrono::microseconds(70); });
  for (std::size_t group = 0; group < schedule.groups().size(); ++group) {
    if (schedule.groups()[group].cost == CostClass::cheap) {
      EXPECT_EQ(schedule.period(group), Seconds(1));
    }
  }
}

TEST(Schedule, IsNotMovedByOneCallThatWaitedLong) {
  Schedule schedule = default_schedule();
  int round = 0;
  run(schedule, Seconds(100), [&round](std::size_t) -> Nanoseconds {
    return ++round % 500 == 0 ? Nanoseconds(Seconds(2)) : Nanoseconds(5000);
  });
  for (std::size_t group = 0; group < schedule.groups().size(); ++group) {
    if (schedule.groups()[group].cost == CostClass::cheap) {
      EXPECT_EQ(schedule.period(group), Seconds(1));
    }
  }
}

TEST(Schedule, BringsACallBackWhenItIsCheapAgain) {
  Schedule schedule = default_schedule();
  const auto dear = [](std::size_t) -> Nanoseconds { return std::chrono::microseconds(900); };
  run(schedule, Seconds(100), dear);
  run(schedule, Seconds(200), nothing, MonotonicTime{Seconds(1100)});
  for (std::size_t group = 0; group < schedule.groups().size(); ++group) {
    if (schedule.groups()[group].cost == CostClass::cheap) {
      EXPECT_EQ(schedule.period(group), Seconds(1));
    }
  }
}

TEST(Schedule, SkipsRoundsThatWereMissedInsteadOfMakingUpForThem) {
  Schedule schedule = default_schedule();
  MonotonicTime now{Seconds(1)};
  schedule.begin_round(now);
  now = now + Seconds(30);
  schedule.begin_round(now);
  EXPECT_GT(schedule.next_round(), now);
  EXPECT_LE(schedule.next_round(), now + Seconds(1));
}

}  // namespace
}  // namespace stoker::sample
