#include "history/history.h"

#include <gtest/gtest.h>

#include "history/history_test_support.h"

namespace stoker::history {
namespace {

TEST(History, TellsEveryReadingOfTheLastHour) {
  Watched node;
  for (int n = 0; n < 5000; ++n) {
    node.read(n);
    node.clock.advance(Seconds(1));
  }
  const auto values = node.ask(Seconds(3600), Step::readings);
  ASSERT_NEAR(static_cast<double>(values.size()), 3600, 2);
  EXPECT_EQ(values.back().mean, 4999);
  for (std::size_t n = 1; n < values.size(); ++n) {
    EXPECT_TRUE(values[n].mark.ok());
    EXPECT_EQ(values[n].mean, values[n - 1].mean + 1);
    EXPECT_EQ(values[n].at.since_epoch - values[n - 1].at.since_epoch, Seconds(1));
  }
}

TEST(History, TellsEveryMinuteOfTheLastDayAsLeastMeanAndMost) {
  Watched node;
  for (int n = 0; n < 600; ++n) {
    node.read(n % 60);
    node.clock.advance(Seconds(1));
  }
  const auto values = node.ask(Seconds(86'400), Step::minutes);
  ASSERT_GE(values.size(), 10U);
  for (const auto& value : values) {
    ASSERT_TRUE(value.mark.ok());
    EXPECT_LE(value.least, value.mean);
    EXPECT_LE(value.mean, value.most);
  }
  EXPECT_EQ(values[5].least, 0);
  EXPECT_NEAR(values[5].mean, 29.5, 0.01);
  EXPECT_EQ(values[5].most, 59);
}

TEST(History, SaysWhyThereIsNoValueWhileAGpuHangs) {
  Watched node;
  node.read_each_second(120, 40);
  node.history.on_gpu_state(store::pci_of(0), device::GpuState::hung, "");
  node.clock.advance(Seconds(120));
  node.read(99);  // what was on its way does not count
  node.clock.advance(Seconds(1));
  const auto values = node.ask(Seconds(60), Step::readings);
  ASSERT_GT(values.size(), 50U);
  for (const auto& value : values) EXPECT_EQ(value.mark, Mark(Reason::hung));
  EXPECT_EQ(node.ask(Seconds(60), Step::minutes).back().mark, Mark(Reason::hung));

  node.history.on_gpu_state(store::pci_of(0), device::GpuState::present, "");
  node.read_each_second(120, 41);
  EXPECT_EQ(node.ask(Seconds(60), Step::readings).back().mean, 41);
}

TEST(History, SaysWhyThereIsNoValueWhileTheDriverIsGoneAndWhenACardIs) {
  Watched node(2);
  node.read_each_second(10, 40);
  node.history.on_status(store::status_of(device::SourceState::driver_missing));
  node.clock.advance(Seconds(10));
  EXPECT_EQ(node.ask(Seconds(3), Step::readings).back().mark, Mark(Reason::driver_gone));
  node.read_each_second(10, 40);
  node.history.on_inventory({store::gpu_info(1)});
  node.clock.advance(Seconds(10));
  EXPECT_EQ(node.ask(Seconds(3), Step::readings).back().mark, Mark(Reason::lost));
}

TEST(History, CallsASilentFieldStale) {
  Watched node;
  node.read_each_second(10, 40);
  node.clock.advance(Seconds(30));
  EXPECT_EQ(node.ask(Seconds(10), Step::readings).back().mark, Mark(Reason::stale));
}

TEST(History, KeepsCountersExactlyThatAFloatCouldNotHold) {
  Watched node;
  const std::int64_t start = 9'007'199'254'740'000;
  for (int n = 0; n < 10; ++n) {
    node.read(start + n, FieldId::energy);
    node.clock.advance(Seconds(1));
  }
  EXPECT_EQ(node.ask(Seconds(60), Step::readings, FieldId::energy).back().mean,
            static_cast<double>(start + 9));
}

TEST(History, GoesOnWhenTheClockIsSetBack) {
  Watched node;
  node.read_each_second(100, 40);
  const WallTime before = node.clock.wall();
  node.clock.set_wall({before.since_epoch - Seconds(3600)});
  node.read_each_second(100, 41);
  const auto values = node.ask(Seconds(200), Step::readings);
  ASSERT_NEAR(static_cast<double>(values.size()), 200, 2);
  EXPECT_EQ(values.front().mean, 40);
  EXPECT_EQ(values.back().mean, 41);
  // told as old as they are by the clock of now
  EXPECT_LE(values.back().at, node.clock.wall());
  EXPECT_GE(values.back().at.since_epoch, node.clock.wall().since_epoch - Seconds(3));
}

TEST(History, OfAFieldThatACardHasNotTakesNoMemory) {
  Watched node;
  node.history.on_readings(
      store::pci_of(0),
      {store::gpu_reading(FieldId::temperature, Reading::none(Reason::not_supported, {}))});
  EXPECT_EQ(node.history.facts().series, 0U);
  EXPECT_TRUE(node.history.ask(FieldId::temperature, Seconds(60), Step::readings).empty());
  EXPECT_FALSE(node.history.keeps(FieldId::compute_mode));
}

TEST(History, IsReadBackAsItWasWithTheTimeInBetweenNotWatched) {
  Watched node;
  node.read_each_second(300, 40);
  node.read(12, FieldId::energy);
  const std::string bytes = node.bytes();

  Watched later;
  later.clock.advance(Seconds(600));
  ASSERT_TRUE(later.history.read_from(bytes));
  later.read_each_second(60, 50);
  const auto values = later.ask(Seconds(3600), Step::readings);
  ASSERT_GT(values.size(), 600U);
  EXPECT_EQ(values.front().mean, 40);
  EXPECT_FALSE(values[400].mark.watched());
  EXPECT_EQ(values.back().mean, 50);
  const auto minutes = later.ask(Seconds(3600), Step::minutes);
  EXPECT_EQ(minutes.front().mean, 40);
  EXPECT_EQ(minutes.back().mean, 50);
  EXPECT_FALSE(minutes[minutes.size() / 2].mark.watched());
}

// A reading that came after the first bytes were written made the whole file one that can't be.
TEST(History, WrittenWhileReadingsComeIsReadBack) {
  Watched node;
  node.read_each_second(100, 40);
  node.read(12, FieldId::energy);
  std::string bytes;
  ASSERT_TRUE(node.history.write_to([&](std::string_view piece) {
    bytes += piece;
    node.read_each_second(10, 41);
    return Result<void>{};
  }));
  Watched later;
  const auto read = later.history.read_from(bytes);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(later.history.facts().series, 2U);
}

TEST(History, WrittenWhileASeriesIsGivenUpIsReadBackWithoutIt) {
  Watched node(2, two_fields(5000));  // room for one series
  node.read_each_second(100, 40);
  std::string bytes;
  ASSERT_TRUE(node.history.write_to([&](std::string_view piece) {
    bytes += piece;
    node.read(41, FieldId::temperature, 1);
    return Result<void>{};
  }));
  ASSERT_EQ(node.history.facts().given_up, 1U);
  Watched later(2);
  const auto read = later.history.read_from(bytes);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(later.history.facts().series, 0U);
}

TEST(History, IsWrittenInPiecesNoLongerThanASeries) {
  Watched node(8);
  for (unsigned gpu = 0; gpu < 8; ++gpu) {
    for (int n = 0; n < 4000; ++n) {
      node.read(n, FieldId::temperature, gpu);
      node.read(n, FieldId::energy, gpu);
      node.clock.advance(Seconds(1));
    }
  }
  const HistoryFacts facts = node.history.facts();
  std::size_t longest = 0;
  ASSERT_TRUE(node.history.write_to([&longest](std::string_view piece) {
    longest = std::max(longest, piece.size());
    return Result<void>{};
  }));
  EXPECT_LE(longest, facts.bytes / facts.series);
}

TEST(History, RefusesBytesThatAreNone) {
  Watched node;
  node.read_each_second(10, 40);
  const std::string bytes = node.bytes();
  for (const auto size : {bytes.size() - 1, bytes.size() / 2, std::size_t{3}, std::size_t{0}}) {
    Watched other;
    const auto read = other.history.read_from(bytes.substr(0, size));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
    EXPECT_EQ(other.history.facts().series, 0U);
  }
}

TEST(History, OfEightGpusWithAllDefaultFieldsFitsWithFullWindows) {
  ManualClock clock;
  History history(clock, {.fields = default_fields(),
                          .node_fields = default_node_fields(),
                          .period_of = second_or_ten});
  EXPECT_LE(default_fields().size(), 28U);
  history.on_inventory(store::gpu_infos(8));
  for (unsigned gpu = 0; gpu < 8; ++gpu) {
    for (const FieldId field : default_fields()) {
      history.on_readings(
          store::pci_of(gpu),
          {store::gpu_reading(field, Reading::of(std::int64_t{1}, clock.monotonic()))});
    }
  }
  const HistoryFacts facts = history.facts();
  EXPECT_EQ(facts.series, 8 * default_fields().size());
  EXPECT_LE(facts.bytes, facts.memory_bytes);
  EXPECT_EQ(facts.readings_window, Seconds(3600));
  EXPECT_EQ(facts.minutes_window, Seconds(86'400));
}

}  // namespace
}  // namespace stoker::history
