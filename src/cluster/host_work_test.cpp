#include "cluster/host_work.h"

#include <gtest/gtest.h>

namespace stoker::cluster {
namespace {

MonotonicTime at(int second) { return {Seconds(second)}; }
os::ProcessWork counted(std::int64_t milliseconds, std::uint64_t bytes, bool waits = false) {
  return {.cpu = Milliseconds(milliseconds), .io_bytes = bytes, .waits_in_kernel = waits};
}

TEST(HostWorkWatch, OneCountAloneSaysNothing) {
  HostWorkWatch watch;
  EXPECT_EQ(watch.told().reason, Reason::pending);
  watch.take(counted(1000, 5), at(10));
  EXPECT_EQ(watch.told().reason, Reason::pending);
}

TEST(HostWorkWatch, TellsSharesOfTheTimeBetweenItsFirstAndItsLastCount) {
  HostWorkWatch watch;
  watch.take(counted(1000, 1000), at(10));
  watch.take(counted(3500, 6000, true), at(15));
  EXPECT_EQ(watch.told(), (HostWork{.reason = Reason::ok,
                                    .cpu_percent = 50,
                                    .io_per_second = 1000,
                                    .waits_in_kernel = true,
                                    .over = Seconds(5)}));
}

TEST(HostWorkWatch, WhatWasAMinuteAgoCountsNoMore) {
  HostWorkWatch watch;
  watch.take(counted(0, 0), at(0));
  for (int second = 5; second <= 65; second += 5) watch.take(counted(60'000, 0), at(second));
  EXPECT_EQ(watch.told().cpu_percent, 0);
  EXPECT_EQ(watch.told().over, Nanoseconds(Seconds(60)));
}

TEST(HostWorkWatch, ACountThatFallsIsWorkForSomebodyLeft) {
  HostWorkWatch watch;
  watch.take(counted(60'000, 1000), at(0));
  watch.take(counted(1000, 2000), at(5));
  EXPECT_EQ(watch.told().cpu_percent, 100);
}

TEST(HostWorkWatch, WhatCannotBeCountedIsUnknownAndBeginsAnewAfterwards) {
  HostWorkWatch watch;
  watch.take(counted(0, 0), at(0));
  watch.take(fail(ErrorCode::no_permission, "no"), at(5));
  EXPECT_EQ(watch.told().reason, Reason::no_permission);
  watch.take(counted(50'000, 0), at(10));
  EXPECT_EQ(watch.told().reason, Reason::pending);
}

TEST(HostWorkWatch, CountsEveryFiveSeconds) {
  HostWorkWatch watch;
  EXPECT_TRUE(watch.is_due(at(1)));
  watch.take(counted(0, 0), at(1));
  EXPECT_FALSE(watch.is_due(at(5)));
  EXPECT_TRUE(watch.is_due(at(6)));
}

}  // namespace
}  // namespace stoker::cluster
