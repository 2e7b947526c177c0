#include "base/allocator.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <vector>

namespace stoker {
namespace {

TEST(Allocator, GivesALargeBlockBackThoughALargerOneWasFreedBefore) {
  // A sanitizer's own allocator tells nothing of itself here; glibc has given blocks out by now.
  if (mallinfo2().uordblks == 0) GTEST_SKIP() << "the allocator in use is not glibc's";
  settle_allocator();
  {
    const std::vector<char> larger(std::size_t{4} << 20);
  }
  const std::size_t before = mallinfo2().hblks;
  const std::vector<char> block(std::size_t{1} << 20);
  EXPECT_EQ(mallinfo2().hblks, before + 1) << "it lies in an arena, which keeps it";
}

}  // namespace
}  // namespace stoker
