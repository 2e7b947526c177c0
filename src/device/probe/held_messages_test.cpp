#include "device/probe/held_messages.h"

#include <gtest/gtest.h>

namespace stoker::device::probe {
namespace {

const PciAddress first_gpu{0, 0x10, 0, 0};
const PciAddress other{0, 0x11, 0, 0};

std::vector<std::uint32_t> xids(HeldMessages& held) {
  std::vector<std::uint32_t> all;
  for (const Message& message : held.take()) {
    if (const auto* xid = std::get_if<Xid>(&message)) all.push_back(xid->xid);
  }
  return all;
}

TEST(HeldMessages, AnXidThatTheRunningProbeToldTooIsNotToldAgain) {
  HeldMessages held;
  held.hold(Xid{first_gpu, 31, {}});
  held.told(Xid{first_gpu, 31, {}});
  EXPECT_TRUE(xids(held).empty());
}

TEST(HeldMessages, WhateverOfTheTwoIsHeardFirst) {
  HeldMessages held;
  held.told(Xid{first_gpu, 31, {}});
  held.hold(Xid{first_gpu, 31, {}});
  held.hold(Xid{first_gpu, 31, {}});
  EXPECT_EQ(xids(held), (std::vector<std::uint32_t>{31}));
}

TEST(HeldMessages, AnXidThatNobodyElseToldIsPassedOn) {
  HeldMessages held;
  held.told(Xid{first_gpu, 31, {}});
  held.hold(Xid{other, 31, {}});
  held.hold(Xid{first_gpu, 79, {}});
  held.hold(Readings{first_gpu, {}});
  EXPECT_EQ(xids(held), (std::vector<std::uint32_t>{31, 79}));
  EXPECT_TRUE(held.take().empty());
}

TEST(HeldMessages, OfWhatIsTooMuchTheOldestIsLetGo) {
  HeldMessages held;
  const auto count = static_cast<std::uint32_t>(HeldMessages::most);
  for (std::uint32_t number = 0; number < 2 * count; ++number)
    held.hold(Xid{first_gpu, number, {}});
  const auto kept = xids(held);
  ASSERT_EQ(kept.size(), count);
  EXPECT_EQ(kept.front(), count);
  EXPECT_EQ(kept.back(), 2 * count - 1);
}

TEST(HeldMessages, WhatIsReadOnceOutlastsWhatIsReadAnew) {
  const auto reading = [](FieldId field, std::int64_t value) {
    return TargetReading{{}, field, Reading::of(value, MonotonicTime{Seconds(value)})};
  };
  HeldMessages held;
  held.hold(Readings{first_gpu, {reading(FieldId::memory_total, 700), reading(FieldId::power, 0)}});
  for (std::int64_t second = 1; second < 2000; ++second) {
    held.hold(Readings{first_gpu, {reading(FieldId::power, second)}});
  }
  std::map<FieldId, Value> last;
  for (const Message& message : held.take()) {
    for (const auto& told : std::get<Readings>(message).readings) {
      last[told.field] = told.reading.value;
    }
  }
  EXPECT_EQ(last.at(FieldId::memory_total), Value(std::int64_t{700}));
  EXPECT_EQ(last.at(FieldId::power), Value(std::int64_t{1999}));
}

}  // namespace
}  // namespace stoker::device::probe
