#include "fabric/counter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace stoker::fabric {
namespace {

std::uint64_t top(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// A counter as hardware has it, with what truly happened beside it.
struct Hardware {
  CounterReading reading;
  bool goes_round = false;
  std::uint64_t happened = 0;

  void count(std::uint64_t events) {
    happened += events;
    const std::uint64_t room = top(reading.bits) - reading.value;
    if (events <= room) {
      reading.value += events;
    } else if (goes_round) {
      reading.value = (reading.value + events) & top(reading.bits);
    } else {
      reading.value = top(reading.bits);
    }
  }
  void clear() { reading.value = 0; }
};

unsigned any_width() { return *rc::gen::element(4U, 8U, 16U, 32U, 64U); }
std::uint64_t some_events() { return *rc::gen::inRange<std::uint64_t>(0, 300'000); }

RC_GTEST_PROP(CountedBetween, NeverTellsMoreThanHappened, ()) {
  Hardware hardware{.reading = {.value = 0, .bits = any_width()},
                    .goes_round = *rc::gen::arbitrary<bool>()};
  hardware.count(some_events());
  const CounterReading before = hardware.reading;
  hardware.happened = 0;
  const int steps = *rc::gen::inRange(0, 8);
  for (int i = 0; i < steps; ++i) {
    if (*rc::gen::weightedElement<bool>({{1, true}, {4, false}})) hardware.clear();
    hardware.count(some_events());
  }
  const Counted counted = counted_between(before, hardware.reading);
  RC_ASSERT(counted.least <= hardware.happened);
}

RC_GTEST_PROP(CountedBetween, IsExactWhereNothingHappenedToTheCounter, ()) {
  Hardware hardware{.reading = {.value = 0, .bits = any_width()}};
  hardware.count(some_events());
  const CounterReading before = hardware.reading;
  hardware.happened = 0;
  hardware.count(some_events());
  const Counted counted = counted_between(before, hardware.reading);
  RC_ASSERT(!counted.fell);
  if (counted.exact) RC_ASSERT(counted.least == hardware.happened);
  if (!hardware.reading.full()) RC_ASSERT(counted.exact);
}

RC_GTEST_PROP(CountedBetween, SaysSoWhereACounterFell, ()) {
  const unsigned bits = any_width();
  const auto high = *rc::gen::inRange<std::uint64_t>(1, top(bits));
  const auto low = *rc::gen::inRange<std::uint64_t>(0, high);
  const Counted counted = counted_between({high, bits}, {low, bits});
  RC_ASSERT(counted.fell);
  RC_ASSERT(!counted.exact);
  RC_ASSERT(counted.least == low);
}

TEST(CountedBetween, AFullCounterTellsAtLeastHowMuch) {
  const Counted counted = counted_between({65'000, 16}, {65'535, 16});
  EXPECT_EQ(counted.least, 535U);
  EXPECT_FALSE(counted.exact);
  EXPECT_FALSE(counted.blind);
}

TEST(CountedBetween, OneThatWasFullAlreadyTellsNothing) {
  const Counted counted = counted_between({255, 8}, {255, 8});
  EXPECT_EQ(counted.least, 0U);
  EXPECT_TRUE(counted.blind);
}

TEST(CountedBetween, AFullNarrowCounterMayHaveBecomeAWideOne) {
  const Counted counted = counted_between({255, 8}, {300, 64});
  EXPECT_EQ(counted.least, 45U);
  EXPECT_TRUE(counted.exact);
}

TEST(CounterRows, EachIsFoundByItsName) {
  for (const CounterRow& row : counter_rows()) {
    EXPECT_EQ(counter_of(row.name), row.id);
    EXPECT_EQ(row_of(row.id).name, row.name);
  }
  EXPECT_EQ(counter_of("no_such"), std::nullopt);
}

}  // namespace
}  // namespace stoker::fabric
