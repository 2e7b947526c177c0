#include "os/ethtool.h"

#include <gtest/gtest.h>

#include <array>

namespace stoker::os {
namespace {

std::string fields(std::initializer_list<std::string_view> names) {
  std::string out;
  for (const auto name : names) {
    out += name;
    out.append(32 - name.size(), '\0');
  }
  return out;
}

bool any_name(std::string_view) { return true; }

TEST(Ethtool, ACounterIsItsNameAndTheValueInItsPlace) {
  const std::array<std::uint64_t, 3> values = {1, ~std::uint64_t{0}, 3};
  const auto names = fields({"rx_discards_phy", "tx_prio3_pause", "rx0_packets"});
  const auto all = named_counters(names, values, any_name);
  EXPECT_EQ(all.at("tx_prio3_pause"), ~std::uint64_t{0});
  EXPECT_EQ(all.size(), 3U);
  const auto wanted =
      named_counters(names, values, [](std::string_view name) { return name.ends_with("phy"); });
  EXPECT_EQ(wanted, (NamedCounters{{"rx_discards_phy", 1}}));
}

TEST(Ethtool, WhatHasNoPartnerIsLeftOut) {
  const std::array<std::uint64_t, 3> values = {1, 2, 3};
  EXPECT_EQ(named_counters(fields({"a"}), values, any_name).size(), 1U);
  EXPECT_EQ(named_counters(fields({"a", "b"}).substr(0, 40), values, any_name).size(), 1U);
  EXPECT_EQ(named_counters(fields({"", "b"}), values, any_name), (NamedCounters{{"b", 2}}));
  EXPECT_TRUE(named_counters(fields({"a"}), {}, any_name).empty());
  // A name that fills its field has no zero at its end.
  EXPECT_EQ(named_counters(std::string(64, 'x'), values, any_name).begin()->first,
            std::string(32, 'x'));
}

TEST(Ethtool, TheLoopbackDeviceHasNoCountersAndNoPause) {
  EXPECT_EQ(read_ethtool_counters("lo", any_name).error().code(), ErrorCode::not_supported);
  EXPECT_EQ(read_pause("lo").error().code(), ErrorCode::not_supported);
  EXPECT_EQ(read_pause("no-such-device").error().code(), ErrorCode::not_found);
  EXPECT_EQ(read_pause(std::string(16, 'x')).error().code(), ErrorCode::invalid_input);
}

}  // namespace
}  // namespace stoker::os
