#include "base/base64.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

// RFC 4648 section 10.
TEST(Base64, DecodesWhatTheStandardShows) {
  EXPECT_EQ(base64_decode(""), "");
  EXPECT_EQ(base64_decode("Zg=="), "f");
  EXPECT_EQ(base64_decode("Zm8="), "fo");
  EXPECT_EQ(base64_decode("Zm9v"), "foo");
  EXPECT_EQ(base64_decode("Zm9v\nYmFy\n"), "foobar");
  EXPECT_EQ(base64_decode("AP+/"), std::string("\0\xff\xbf", 3));
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* wrong : {"Zg=", "Z", "Zg", "Z===", "Zm9v!", "Zg==Zm9v", "Zg===", "-_8="}) {
    EXPECT_EQ(base64_decode(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace stoker
