// What NCCL says of itself, and that it is never needed. That it computes is seen on real cards (docs/measurements.md).
#include "diag/nccl.h"

#include <gtest/gtest.h>

namespace stoker::diag {
namespace {

TEST(Nccl, ReadsBothFormsOfItsVersion) {
  EXPECT_EQ(nccl_version_text(22809), "NCCL 2.28.9");
  EXPECT_EQ(nccl_version_text(2804), "NCCL 2.8.4");
}

TEST(Nccl, IsNotSupportedWhereItIsNotInstalledOrAnotherLibraryHasItsName) {
  const auto missing = open_nccl({}, "libnccl-that-is-not-there.so.2");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), ErrorCode::not_supported);
  EXPECT_NE(missing.error().message().find("libnccl-that-is-not-there.so.2"), std::string::npos);
  const auto other = open_nccl({}, "libc.so.6");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code(), ErrorCode::not_supported);
}

TEST(Nccl, IsNothingToTestWhereItDoesNotStart) {
  const auto refused =
      open_nccl({{.enter = [] { return Result<void>(); }}}, STOKER_FAKE_NCCL_LIBRARY);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::not_supported);
  EXPECT_EQ(refused.error().message(),
            "NCCL 2.28.9: it does not start: unhandled system error (2)");
}

}  // namespace
}  // namespace stoker::diag
