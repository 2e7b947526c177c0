#include "base/text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace stoker {
namespace {

TEST(WholeNumber, IsDecimalAndNothingElse) {
  EXPECT_EQ(whole_number<std::uint32_t>("0"), 0U);
  EXPECT_EQ(whole_number<std::uint32_t>("4294967295"), 4294967295U);
  EXPECT_EQ(whole_number<std::int32_t>("-15"), -15);
  for (const char* text : {"", " 1", "1 ", "+1", "0x1", "1.0", "one", "-1", "4294967296"}) {
    EXPECT_EQ(whole_number<std::uint32_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(whole_number<std::uint16_t>("65536"), std::nullopt);
}

}  // namespace
}  // namespace stoker
