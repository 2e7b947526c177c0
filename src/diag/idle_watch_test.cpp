// Only a card that is known to have been idle for long enough is tested, one at a time, and none that somebody may need.
#include "diag/idle_watch.h"

#include <gtest/gtest.h>

#include <functional>

namespace stoker::diag {
namespace {

constexpr IdleOptions after_an_hour{.idle = Seconds(3600), .every = Seconds(86'400)};
constexpr std::int64_t first_day = 1'800'000'000;

store::GpuSnapshot idle_card(std::uint32_t index) {
  store::GpuSnapshot gpu;
  gpu.info.index = index;
  gpu.info.uuid = "GPU-" + std::to_string(index);
  for (const FieldId id : {FieldId::utilization, FieldId::memory_used})
    gpu.readings.set(id, Reading::of(std::int64_t{0}, {Seconds(1)}));
  return gpu;
}

// Two cards after so many seconds; `change` makes of the second what it is to be.
struct IdleNode {
  std::function<void(store::Snapshot&)> change;
  IdleWatch watch{after_an_hour};
  std::map<std::string, Obstacle> held;
  std::map<std::string, WallTime> tested;

  std::map<std::string, MonotonicTime> not_before;
  IdleLook seen;

  std::optional<std::string> at(std::int64_t seconds) {
    store::Snapshot now;
    now.taken_at = {Seconds(seconds)};
    now.wall = {Seconds(first_day + seconds)};
    now.source.state = device::SourceState::running;
    now.gpus = {idle_card(0), idle_card(1)};
    for (auto& gpu : now.gpus) gpu.process_outcome = Reading::of(std::int64_t{0}, now.taken_at);
    if (change) change(now);
    seen = watch.look({now, held, tested, not_before});
    return seen.due;
  }
};

TEST(IdleWatch, WaitsForTheTimeAndTakesOneCardAfterTheOther) {
  IdleNode node;
  EXPECT_EQ(node.at(0), std::nullopt);
  EXPECT_EQ(node.at(3599), std::nullopt);
  EXPECT_EQ(node.at(3600), "GPU-0");
  node.watch.begun("GPU-0");
  node.tested["GPU-0"] = {Seconds(first_day + 3600)};
  EXPECT_EQ(node.at(3610), "GPU-1");
  node.watch.begun("GPU-1");
  node.tested["GPU-1"] = {Seconds(first_day + 3610)};
  EXPECT_EQ(node.at(3620), std::nullopt);
  EXPECT_EQ(node.at(3600 + 86'399), std::nullopt);
  EXPECT_EQ(node.at(3610 + 86'400), "GPU-0");  // longest ago
}

TEST(IdleWatch, BeginsAnewAfterEveryUse) {
  IdleNode node;
  EXPECT_EQ(node.at(0), std::nullopt);
  node.held = {{"GPU-0", {}}};
  node.change = [](store::Snapshot& now) { now.gpus[1].processes.push_back({.pid = 42}); };
  EXPECT_EQ(node.at(3000), std::nullopt);
  node.change = {};
  EXPECT_EQ(node.at(3700), std::nullopt);
  EXPECT_EQ(node.at(3700 + 3599), std::nullopt);
  EXPECT_EQ(node.at(3700 + 3600), "GPU-1");
}

TEST(IdleWatch, NeverTakesACardOfWhichSomethingIsNotKnownOrThatSomebodyHolds) {
  auto attribution = std::make_shared<Attribution>();
  attribution->pods.reason = Reason::ok;
  attribution->holds["GPU-1"].push_back({.holder = {.pod = "train-0"}});
  auto unknown_pods = std::make_shared<Attribution>();
  unknown_pods->pods.reason = Reason::failed;
  const std::vector<std::function<void(store::Snapshot&)>> changes = {
      [](auto& now) { now.gpus[1].state = device::GpuState::lost; },
      [](auto& now) { now.gpus[1].info.mig_enabled = true; },
      [](auto& now) { now.gpus[1].process_outcome = Reading::none(Reason::failed, now.taken_at); },
      [](auto& now) {
        now.gpus[1].process_outcome.taken_at = {now.taken_at.since_boot - Seconds(31)};
      },
      [](auto& now) {
        now.gpus[1].readings.set(FieldId::utilization, Reading::none(Reason::stale, {Seconds(2)}));
      },
      [](auto& now) {
        now.gpus[1].readings.set(FieldId::utilization, Reading::of(std::int64_t{3}, {Seconds(2)}));
      },
      [](auto& now) {
        now.gpus[1].readings.set(FieldId::memory_used,
                                 Reading::of(std::int64_t{1} << 34, {Seconds(2)}));
      },
      [](auto& now) { now.source.state = device::SourceState::driver_hung; },
      [&](auto& now) { now.attribution = attribution; },
      [&](auto& now) { now.attribution = unknown_pods; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    IdleNode node;
    node.held = {{"GPU-0", {}}};
    node.change = changes[i];
    EXPECT_EQ(node.at(0), std::nullopt) << i;
    EXPECT_EQ(node.at(4000), std::nullopt) << i;
  }
}

TEST(IdleWatch, SaysOfEachCardWhenItsTimeComesOrWhatIsInTheWay) {
  IdleNode node;
  node.tested["GPU-0"] = {Seconds(first_day - 40'000)};
  node.held = {{"GPU-1", {TestState::incident, "incident 7"}}};
  node.at(0);
  EXPECT_EQ(node.seen.cards["GPU-0"].now.state, TestState::waits);
  EXPECT_EQ(node.seen.cards["GPU-0"].next, WallTime{Seconds(first_day + 46'400)});
  EXPECT_EQ(node.seen.cards["GPU-1"].now.state, TestState::incident);
  EXPECT_EQ(node.seen.cards["GPU-1"].now.why, "incident 7");
  EXPECT_EQ(node.seen.cards["GPU-1"].next, std::nullopt);
  node.held.clear();
  node.at(100);  // idle from now on
  EXPECT_EQ(node.seen.cards["GPU-1"].next, WallTime{Seconds(first_day + 3700)});
  node.not_before["GPU-1"] = {Seconds(5000)};
  EXPECT_EQ(node.at(4000), std::nullopt);
  EXPECT_EQ(node.seen.cards["GPU-1"].next, WallTime{Seconds(first_day + 8600)});
  EXPECT_EQ(node.at(8599), std::nullopt);  // its idle time begins when it may be tried again
  node.change = [](store::Snapshot& now) { now.gpus[1].processes.push_back({.pid = 42}); };
  node.at(8600);
  EXPECT_EQ(node.seen.cards["GPU-1"].now.state, TestState::in_use);
  EXPECT_EQ(node.seen.cards["GPU-1"].now.why, "process 42");
}

TEST(IdleWatch, SpreadsTheCardsOfManyNodes) {
  IdleNode node;
  node.watch = IdleWatch({.idle = Seconds(3600), .every = Seconds(86'400), .spread = true});
  std::map<std::string, std::int64_t> due;
  for (std::int64_t at = 0; at < 7200; at += 10) {
    if (const auto uuid = node.at(at); uuid && due.try_emplace(*uuid, at).second)
      node.tested[*uuid] = {Seconds(first_day + at)};
  }
  ASSERT_EQ(due.size(), 2U);  // both within the time
  EXPECT_NE(due["GPU-0"], due["GPU-1"]);
  EXPECT_GE(std::min(due["GPU-0"], due["GPU-1"]), 3600);
  EXPECT_NE(due["GPU-0"], 3600);
  EXPECT_EQ(node.at(due["GPU-0"] + 86'400), std::nullopt);
}

TEST(IdleWatch, IsNotHeldUpByAClockThatWasSetBack) {
  IdleNode node;
  node.tested["GPU-0"] = {Seconds(first_day * 2)};
  EXPECT_EQ(node.at(0), std::nullopt);
  node.held = {{"GPU-1", {}}};
  EXPECT_EQ(node.at(3600), "GPU-0");
}

}  // namespace
}  // namespace stoker::diag
