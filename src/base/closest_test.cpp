#include "base/closest.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

const std::vector<std::string> faults = {"xid", "ecc-dbe", "hang", "vanish", "nvlink-down"};

TEST(Closest, TheNearestNameComesFirst) {
  EXPECT_EQ(closest_first("hnag", faults).front(), "hang");
  EXPECT_EQ(closest_first("ecc-dbee", faults).front(), "ecc-dbe");
}

TEST(Closest, ABeginningCountsMoreThanLetters) {
  EXPECT_EQ(closest_first("nvlink", faults).front(), "nvlink-down");
}

TEST(Closest, ASlipOfTheHandIsRecognisedAndAnotherWordIsNot) {
  EXPECT_EQ(did_you_mean("vanihs", faults), "did you mean 'vanish'?");
  EXPECT_EQ(did_you_mean("reboot", faults), "");
  EXPECT_EQ(did_you_mean("", {}), "");
  EXPECT_EQ(did_you_mean("van", {"vanish-for-ever"}), "did you mean 'vanish-for-ever'?");
  EXPECT_EQ(did_you_mean(std::string(1'000'000, 'v'), faults), "");
}

TEST(Closest, ListsReadLikeASentence) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace stoker
