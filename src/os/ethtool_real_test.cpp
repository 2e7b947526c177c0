// Real network devices of this kernel, in a network namespace of their own: what ethtool(8) prints is what we read.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "os/command.h"
#include "os/dcb.h"
#include "os/ethtool.h"

namespace stoker::os {
namespace {

constexpr auto patience = std::chrono::seconds(20);
constexpr std::size_t much = 1 << 20;

Result<std::string> printed(const std::string& script) {
  return output_of({.program = "/bin/sh",
                    .arguments = {"-c", script},
                    .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"},
                    .quiet = true},
                   patience, much);
}

// A pair of devices, real0 and real1.
class RealNetdevs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no right to make a network namespace";
    if (!printed("ip link add real0 type veth peer name real1 && ip link set real0 up && "
                 "ip link set real1 up"))
      GTEST_SKIP() << "ip can't make a veth here: not installed, or the kernel has none";
  }
};

TEST_F(RealNetdevs, HaveTheCountersThatEthtoolPrints) {
  const auto theirs = printed("ethtool -S real0");
  if (!theirs) GTEST_SKIP() << "ethtool: " << theirs.error().describe();
  const auto ours = read_ethtool_counters("real0", [](std::string_view) { return true; });
  ASSERT_TRUE(ours) << ours.error().describe();
  EXPECT_FALSE(ours->empty());
  for (const auto& [name, value] : *ours)
    EXPECT_NE(theirs->find("     " + name + ": "), std::string::npos) << name;
  EXPECT_EQ(static_cast<std::size_t>(std::count(theirs->begin(), theirs->end(), '\n')),
            ours->size() + 1)
      << *theirs;
  EXPECT_NE(theirs->find("peer_ifindex: " + std::to_string(ours->at("peer_ifindex"))),
            std::string::npos);
}

TEST_F(RealNetdevs, ThatHaveNoBridgingSaySo) {
  const auto dcb = read_dcb("real0");
  ASSERT_FALSE(dcb);
  EXPECT_EQ(dcb.error().code(), ErrorCode::not_supported) << dcb.error().describe();
  EXPECT_EQ(read_pause("real0").error().code(), ErrorCode::not_supported);
}

}  // namespace
}  // namespace stoker::os
