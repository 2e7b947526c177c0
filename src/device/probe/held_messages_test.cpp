#include "device/probe/held_messages.h"

#include <gtest/gtest.h>

namespace stoker::device::probe {
namespace {

const PciAddress gpu{0, 0x10, 0, 0};
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
  held.hold(Xid{gpu, 31, {}});
  held.told(Xid{gpu, 31, {}});
  EXPECT_TRUE(xids(held).empty());
}

TEST(HeldMessages, WhateverOfTheTwoIsHeardFirst) {
  HeldMessages held;
  held.told(Xid{gpu, 31, {}});
  held.hold(Xid{gpu, 31, {}});
  held.hold(Xid{gpu, 31, {}});
  EXPECT_EQ(xids(held), (std::vector<std::uint32_t>{31}));
}

TEST(HeldMessages, AnXidThatNobodyElseToldIsPassedOn) {
  HeldMessages held;
  held.told(Xid{gpu, 31, {}});
  held.hold(Xid{other, 31, {}});
  held.hold(Xid{gpu, 79, {}});
  held.hold(Readings{gpu, {}});
  EXPECT_EQ(xids(held), (std::vector<std::uint32_t>{31, 79}));
  EXPECT_TRUE(held.take().empty());
}

TEST(HeldMessages, WhatIsTooMuchIsLetGo) {
  HeldMessages held;
  for (std::size_t count = 0; count < HeldMessages::most * 2; ++count) held.hold(Readings{gpu, {}});
  EXPECT_EQ(held.take().size(), HeldMessages::most);
}

}  // namespace
}  // namespace stoker::device::probe
