#include "catalog/xid74.h"

#include <gtest/gtest.h>

#include <array>

namespace stoker {
namespace {

TEST(Xid74, ReadsEachRegisterByNvidiasTable) {
  constexpr std::array<std::uint32_t, 7> registers = {1U << 21U, 0, 1U << 16U, 1U << 18U,
                                                      1U << 20U, 0, 0};
  const auto found = read_xid74(registers);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].number, 1);
  EXPECT_EQ(found[0].action, Action::inspect_cable);
  EXPECT_EQ(found[1].number, 3);
  EXPECT_EQ(found[1].action, Action::observe);
  EXPECT_EQ(found[2].action, Action::reset_domain);
  EXPECT_EQ(found[3].number, 5);
}

TEST(Xid74, LeavesNoBitUnsaid) {
  constexpr std::array<std::uint32_t, 2> registers = {1U << 4U | 1U << 2U, 1};
  const auto found = read_xid74(registers);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].bits, 1U << 4U);
  EXPECT_EQ(found[1].bits, 1U << 2U);
  EXPECT_EQ(found[1].text, "not documented");
  EXPECT_EQ(found[1].action, Action::contact_vendor);
  EXPECT_EQ(found[2].number, 2) << "the table has no row for the second register";
  EXPECT_TRUE(read_xid74({}).empty());
}

}  // namespace
}  // namespace stoker
