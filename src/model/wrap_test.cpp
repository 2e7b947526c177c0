#include "model/wrap.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Cut, LeavesWhatFitsAndMarksWhatDoesNot) {
  EXPECT_EQ(cut_end("fits", 4), "fits");
  EXPECT_EQ(cut_end("does not", 4), "doe…");
  EXPECT_EQ(cut_end("ünïcödé", 4), "ünï…");
  EXPECT_EQ(cut_end("does not", 4, "~"), "doe~");
  EXPECT_EQ(cut_front("fits", 4), "fits");
  EXPECT_EQ(cut_front("does not", 4), "…not");
  EXPECT_EQ(cut_front("ünïcödé", 3), "…dé");
}

TEST(Cut, HasRoomForTheMarkAloneOrForNothing) {
  EXPECT_EQ(cut_end("long", 1), "…");
  EXPECT_EQ(cut_front("long", 1), "…");
  EXPECT_EQ(cut_end("long", 0), "");
  EXPECT_EQ(cut_front("long", 0), "");
}

}  // namespace
}  // namespace stoker
