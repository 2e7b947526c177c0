// A slow link is its ends' fault, and a slow card's no other's.
#include "diag/blame.h"

#include <gtest/gtest.h>

namespace stoker::diag {
namespace {

PairRates even(std::size_t cards) { return {cards, std::vector<double>(cards, 388e9)}; }
void slow_down(PairRates& rates, std::size_t a, std::size_t b, double rate = 50e9) {
  rates[a][b] = rate;
  rates[b][a] = rate;
}
using Blamed = std::vector<bool>;

TEST(BlameSlowPairs, BlamesNobodyWhereAllAreAlike) {
  EXPECT_EQ(blame_slow_pairs(even(4)).cards, (Blamed{false, false, false, false}));
  EXPECT_TRUE(blame_slow_pairs({}).cards.empty());
}

TEST(BlameSlowPairs, BlamesTheCardWhosePairsAreAllSlowAndExcusesTheOthers) {
  for (const std::size_t cards : {3U, 4U, 8U}) {
    auto rates = even(cards);
    for (std::size_t other = 0; other < cards; ++other) {
      if (other != 1) slow_down(rates, 1, other);
    }
    const auto blame = blame_slow_pairs(rates);
    Blamed expected(cards);
    expected[1] = true;
    EXPECT_EQ(blame.cards, expected) << cards;
    EXPECT_TRUE(blame.excused[0][1]);
    EXPECT_FALSE(blame.excused[1][0]);
  }
}

TEST(BlameSlowPairs, BlamesTwoCardsOfEight) {
  auto rates = even(8);
  for (std::size_t other = 0; other < 8; ++other) {
    if (other != 1) slow_down(rates, 1, other);
    if (other != 3) slow_down(rates, 3, other);
  }
  const auto blame = blame_slow_pairs(rates);
  EXPECT_EQ(blame.cards, (Blamed{false, true, false, true, false, false, false, false}));
}

TEST(BlameSlowPairs, BlamesBothEndsOfOneSlowPair) {
  auto rates = even(8);
  rates[2][5] = 50e9;  // one way only
  const auto blame = blame_slow_pairs(rates);
  EXPECT_EQ(blame.cards, (Blamed{false, false, true, false, false, true, false, false}));
  EXPECT_FALSE(blame.excused[2][5]);
}

TEST(BlameSlowPairs, TakesBridgesBetweenPairsForHowTheyAreWired) {
  auto rates = PairRates(4, std::vector<double>(4, 25e9));
  slow_down(rates, 0, 1, 250e9);
  slow_down(rates, 2, 3, 250e9);
  const auto blame = blame_slow_pairs(rates);
  EXPECT_EQ(blame.cards, (Blamed{true, true, true, true}));
  EXPECT_FALSE(blame.excused[0][2]);
}

}  // namespace
}  // namespace stoker::diag
