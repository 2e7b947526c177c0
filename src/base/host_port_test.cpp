#include "base/host_port.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(HostPort, AcceptsWhatPeopleWrite) {
  EXPECT_EQ(parse_host_port("127.0.0.1:9400")->host, "127.0.0.1");
  EXPECT_EQ(parse_host_port("127.0.0.1:9400")->port, 9400);
  EXPECT_EQ(parse_host_port("[::1]:1")->host, "::1");
  EXPECT_EQ(parse_host_port(":80")->host, "::");
  EXPECT_EQ(format_host_port(*parse_host_port("[fe80::1]:7")), "[fe80::1]:7");
  for (const char* wrong : {"", "9400", "a:b", "a:", "::1:9400", "host:70000", "a b:1", "[::1]"}) {
    EXPECT_FALSE(parse_host_port(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace stoker
