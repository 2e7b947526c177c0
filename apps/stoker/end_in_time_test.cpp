#include "end_in_time.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>

namespace stoker::app {
namespace {

TEST(EndInTime, AnEndThatHangsIsLeft) {
  std::atomic<bool> left = false;
  EndInTime end(
      [&left] {
        left = true;
        left.notify_all();
      },
      Milliseconds(1));
  end.begin();
  left.wait(false);
  EXPECT_TRUE(left);
}

TEST(EndInTime, AnEndInTimeIsLeftAlone) {
  std::atomic<bool> left = false;
  std::optional<EndInTime> end;
  end.emplace([&left] { left = true; }, Seconds(3600));
  end->begin();
  end.reset();
  EXPECT_FALSE(left);
}

TEST(EndInTime, NothingIsLeftBeforeTheEndBegins) {
  std::atomic<bool> left = false;
  {
    const EndInTime end([&left] { left = true; }, Milliseconds(0));
  }
  EXPECT_FALSE(left);
}

}  // namespace
}  // namespace stoker::app
