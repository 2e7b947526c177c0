// How long a planned maintenance lasts: by which clock, and through boots.
#include "incident/maintenance.h"

#include <gmock/gmock.h>

namespace stoker::incident {
namespace {

constexpr Nanoseconds minute = std::chrono::minutes(1);

WallTime wall_at(Nanoseconds after) { return {Seconds(1'700'000'000) + after}; }

// Half an hour, an hour after the boot.
Maintenance half_an_hour() {
  return {.began = wall_at({}),
          .ends = wall_at(30 * minute),
          .began_at = {60 * minute},
          .boot = "boot-1",
          .who = "root",
          .why = "new driver",
          .waiting = {}};
}

TEST(Maintenance, LastsAsLongAsItWasAskedForWhateverTheWallClockSays) {
  const auto left = [](Nanoseconds later, Nanoseconds clock_set_by) {
    return left_of(half_an_hour(), "boot-1", 60 * minute + later,
                   {{60 * minute + later}, wall_at(later + clock_set_by)});
  };
  EXPECT_EQ(left({}, {}), 30 * minute);
  EXPECT_EQ(left(29 * minute, 100 * minute), minute);
  EXPECT_EQ(left(29 * minute, -100 * minute), minute);
  EXPECT_EQ(left(30 * minute, -100 * minute), Nanoseconds{0});
  EXPECT_EQ(left(300 * minute, {}), Nanoseconds{0});
}

// So long after its beginning, in a boot that has been up for so long, by a clock that is wrong by so much.
Nanoseconds after_boot(Nanoseconds later, Nanoseconds up, Nanoseconds wrong = {}) {
  return left_of(half_an_hour(), "boot-2", up, {{up}, wall_at(later + wrong)});
}

TEST(Maintenance, GoesOnAfterABootToItsEndAndAtLeastForTheGrace) {
  EXPECT_EQ(after_boot(6 * minute, minute), 24 * minute);
  EXPECT_EQ(after_boot(29 * minute, 24 * minute), minute);
  EXPECT_EQ(after_boot(29 * minute, minute), 9 * minute);
  EXPECT_EQ(after_boot(35 * minute, 6 * minute), 4 * minute);
  EXPECT_EQ(after_boot(39 * minute, 10 * minute), Nanoseconds{0});
}

TEST(Maintenance, IsNothingToABootAfterItsEnd) {
  EXPECT_EQ(after_boot(32 * minute, minute), Nanoseconds{0});
  EXPECT_EQ(after_boot(600 * minute, 2 * minute), Nanoseconds{0});
}

TEST(Maintenance, LastsForTheGraceAloneWhereTheClockWentBackWithTheBoot) {
  EXPECT_EQ(after_boot(6 * minute, minute, -1000 * minute), 9 * minute);
  EXPECT_EQ(after_boot(20 * minute, 15 * minute, -1000 * minute), Nanoseconds{0});
}

TEST(Maintenance, NeverLastsLongerAfterABootThanItWasAskedFor) {
  // The clock is set back just so far that the boot seems to be within it.
  EXPECT_EQ(after_boot(60 * minute, 40 * minute, -15 * minute), Nanoseconds{0});
  EXPECT_EQ(after_boot(30 * minute, 25 * minute, -4 * minute), 4 * minute);
}

TEST(Maintenance, OfABootWhoseIdIsNotKnownIsToldByTheKernelsClock) {
  auto mark = half_an_hour();
  mark.boot.clear();
  EXPECT_EQ(left_of(mark, "", 61 * minute, {{61 * minute}, wall_at(minute)}), 29 * minute);
  EXPECT_EQ(left_of(mark, "", minute, {{minute}, wall_at(6 * minute)}), 24 * minute);
}

}  // namespace
}  // namespace stoker::incident
