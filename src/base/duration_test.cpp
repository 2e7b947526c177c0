#include "base/duration.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Duration, ReadsAndWritesWhatPeopleWrite) {
  EXPECT_EQ(*parse_duration("250ms"), Milliseconds(250));
  EXPECT_EQ(*parse_duration("1.5s"), Milliseconds(1500));
  EXPECT_EQ(*parse_duration("5m"), Seconds(300));
  EXPECT_EQ(*parse_duration("7d"), Seconds(604800));
  for (const char* wrong : {"", "s", "10", "10 s", "-1s", "1e400s", "nans", "1x", "infs"}) {
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  }
  for (const char* text : {"0s", "1ns", "250us", "1500ms", "90s", "5m", "2h", "3d"}) {
    EXPECT_EQ(duration_text(*parse_duration(text)), text);
  }
}

}  // namespace
}  // namespace stoker
