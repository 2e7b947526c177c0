// Memory that keeps what was written passes; a stuck bit, a changed bit and missing memory do not.
#include "diag/check_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diag/host_card_test_support.h"
#include "diag/kernels/memory.h"

namespace stoker::diag {
namespace {

TEST(CheckMemory, PassesWhereEveryWordIsWhatWasWritten) {
  const auto card = small_card();
  const auto found = check_memory(*card, {.piece = 1 << 20});
  EXPECT_EQ(only(found, "memory_pattern").outcome, Outcome::measured);
  EXPECT_EQ(only(found, "memory_address").outcome, Outcome::measured);
  EXPECT_EQ(only(found, "memory_address").value, 0);
}

TEST(CheckMemory, NamesTheWordAndTheBitThatIsStuck) {
  const auto card = small_card({.stuck_bit = StuckBit{.word = 123'456, .bit = 9, .value = false}});
  const auto found = only(check_memory(*card, {}), "memory_pattern");
  EXPECT_EQ(found.outcome, Outcome::wrong);
  ASSERT_FALSE(found.details.empty());
  EXPECT_NE(found.details.front().find("bit 9"), std::string::npos) << found.details.front();
  EXPECT_NE(found.reason.find("byte 0x78900 "), std::string::npos) << found.reason;  // 123,456 * 4
}

TEST(CheckMemory, FindsAStuckBitByItsAddressesToo) {
  const auto card = small_card({.stuck_bit = StuckBit{.word = 1000, .bit = 3, .value = true}});
  EXPECT_EQ(only(check_memory(*card, {}), "memory_address").outcome, Outcome::wrong);
}

TEST(CheckMemory, FindsEachOfAThousandChangedBitsWhereItWasChanged) {
  const auto card = small_card();
  std::vector<std::uint64_t> flipped;
  std::vector<std::uint64_t> named;
  const auto all =
      check_memory(*card, {.piece = 1 << 20, .meddle = flip_bits(1000, flipped), .wrong = &named});
  EXPECT_EQ(only(all, "memory_pattern").value, 1000);
  EXPECT_EQ(flipped.size(), 1000U);
  EXPECT_EQ(named, flipped);
  EXPECT_EQ(only(all, "memory_address").outcome, Outcome::measured);
}

TEST(CheckMemory, FailsWhereItCouldNotAllocate) {
  const auto card = small_card({.no_memory = true});
  const auto found = only(check_memory(*card, {}), "memory_pattern");
  EXPECT_EQ(found.outcome, Outcome::no_room);
  EXPECT_NE(found.reason.find("0.00 could"), std::string::npos) << found.reason;
}

TEST(CheckMemory, FailsWhereTheCardAnswersNothing) {
  const auto card = small_card({.dead = true});
  EXPECT_EQ(only(check_memory(*card, {}), "memory_pattern").outcome, Outcome::wrong);
  EXPECT_EQ(only(check_memory(*card, {}), "memory_address").outcome, Outcome::wrong);
}

TEST(CheckMemory, GivesEverythingBack) {
  const auto card = small_card();
  const auto before = card->memory()->free_bytes;
  check_memory(*card, {.piece = 1 << 18});
  EXPECT_EQ(card->memory()->free_bytes, before);
}

TEST(Patterns, DifferInEveryAddressLine) {
  for (int line = 0; line < 38; ++line) {
    const auto other = std::uint64_t{1} << line;
    EXPECT_NE(expected_word(Pattern::address, 0, 0), expected_word(Pattern::address, 0, other))
        << line;
  }
}

}  // namespace
}  // namespace stoker::diag
