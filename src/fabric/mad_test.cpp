#include "fabric/mad.h"

#include <gtest/gtest.h>

namespace stoker::fabric {
namespace {

using Payload = std::vector<std::uint8_t>;

// PortInfo of a port that runs at 4X HDR, as an adapter of 2020 answers.
Payload hdr_port() {
  Payload bytes(64);
  bytes[16] = 0x01;  // LID 0x0105
  bytes[17] = 0x05;
  bytes[29] = 0x03;  // widths enabled, supported: 1X, 4X
  bytes[30] = 0x03;
  bytes[31] = 0x02;  // active: 4X
  bytes[32] = 0x74;  // SDR to QDR supported, Active
  bytes[33] = 0x50;  // LinkUp
  bytes[35] = 0x47;  // plain speed QDR; SDR to QDR enabled
  bytes[62] = 0x47;  // extended speed HDR; FDR to HDR supported
  bytes[63] = 0x07;  // FDR to HDR enabled
  return bytes;
}

TEST(Mad, PortInfoTellsStateWidthAndSpeed) {
  const auto port = decode_port_info(hdr_port());
  ASSERT_TRUE(port);
  EXPECT_EQ(port->state, LinkState::active);
  EXPECT_EQ(port->physical, PhysicalState::link_up);
  EXPECT_EQ(to_string(port->rate), "4X HDR");
  EXPECT_EQ(fastest(port->speeds_enabled), Speed::hdr);
  EXPECT_EQ(fastest(port->speeds_supported), Speed::hdr);
  EXPECT_EQ(widest(port->widths_supported), 4U);
  EXPECT_EQ(decode_lid(hdr_port()), 0x0105);
}

TEST(Mad, PortInfoOfAnXdrLinkHasItsSpeedInAThirdField) {
  Payload bytes = hdr_port();
  bytes[59] = 0x2a;  // enabled, supported and active 2: XDR
  const auto port = decode_port_info(bytes);
  ASSERT_TRUE(port);
  EXPECT_EQ(port->rate.speed, Speed::xdr);
  EXPECT_EQ(fastest(port->speeds_enabled), Speed::xdr);
  EXPECT_EQ(fastest(port->speeds_supported), Speed::xdr);
}

TEST(Mad, CodesThatNobodyHasDefinedAreNotKnown) {
  Payload bytes = hdr_port();
  bytes[62] = 0x37;
  bytes[31] = 0x20;
  bytes[32] = 0x7f;
  const auto port = decode_port_info(bytes);
  ASSERT_TRUE(port);
  EXPECT_EQ(port->rate.speed, std::nullopt);
  EXPECT_EQ(port->rate.lanes, std::nullopt);
  EXPECT_EQ(port->state, LinkState::unknown);
}

std::optional<CounterReading> of(const Counters& counters, CounterId id) {
  return counters.at(static_cast<std::size_t>(id));
}

TEST(Mad, NarrowCountersStandWhereTheSpecificationHasThem) {
  Payload bytes(192);
  bytes[4] = 0x12;  // symbol errors
  bytes[5] = 0x34;
  bytes[7] = 3;      // link downed
  bytes[19] = 0xa5;  // link integrity 10, overruns 5
  bytes[43] = 9;     // wait
  Counters counters;
  ASSERT_TRUE(decode_counters(bytes, {}, counters));
  EXPECT_EQ(of(counters, CounterId::symbol_error), (CounterReading{0x1234, 16}));
  EXPECT_EQ(of(counters, CounterId::link_downed), (CounterReading{3, 8}));
  EXPECT_EQ(of(counters, CounterId::local_link_integrity_errors), (CounterReading{10, 4}));
  EXPECT_EQ(of(counters, CounterId::excessive_buffer_overrun_errors), (CounterReading{5, 4}));
  EXPECT_EQ(of(counters, CounterId::port_xmit_wait),
            std::nullopt);  // the agent does not say that it has it
  ASSERT_TRUE(decode_counters(bytes, {.xmit_wait = true}, counters));
  EXPECT_EQ(of(counters, CounterId::port_xmit_wait), (CounterReading{9, 32}));
}

TEST(Mad, WideCountersReplaceTheNarrowOnesThatTheAgentHas) {
  Payload bytes(192);
  bytes[8] = 1;   // words sent
  bytes[72] = 2;  // symbol errors
  Counters counters;
  ASSERT_TRUE(decode_counters(bytes, {}, counters));
  ASSERT_TRUE(decode_wide_counters(bytes, {.wide_traffic = true}, counters));
  EXPECT_EQ(of(counters, CounterId::port_xmit_data), (CounterReading{1ULL << 56U, 64}));
  EXPECT_EQ(of(counters, CounterId::symbol_error)->bits, 16U);
  ASSERT_TRUE(decode_wide_counters(bytes, {.wide_traffic = true, .wide_errors = true}, counters));
  EXPECT_EQ(of(counters, CounterId::symbol_error), (CounterReading{2ULL << 56U, 64}));
}

TEST(Mad, AbilitiesAreThoseOfClassPortInfo) {
  Payload bytes(72);
  bytes[2] = 0x12;      // bits 12 and 9
  bytes[7] = 1U << 6U;  // CapabilityMask2 bit 1, above five bits of RespTimeValue
  const auto abilities = decode_abilities(bytes);
  ASSERT_TRUE(abilities);
  EXPECT_TRUE(abilities->wide_traffic);
  EXPECT_TRUE(abilities->xmit_wait);
  EXPECT_TRUE(abilities->wide_errors);
}

TEST(Mad, WhatIsTooShortIsRefused) {
  const Payload bytes(7);
  Counters counters;
  EXPECT_FALSE(decode_port_info(bytes));
  EXPECT_FALSE(decode_lid(bytes));
  EXPECT_FALSE(decode_abilities(bytes));
  EXPECT_FALSE(decode_counters(bytes, {}, counters));
  EXPECT_FALSE(decode_wide_counters(Payload(80), {.wide_errors = true}, counters));
  EXPECT_EQ(counters, Counters{});
}

TEST(Mad, ANodesNameIsPrintable) {
  const Payload bytes = {'a', 0x1b, '[', '2', 0, 'x'};
  EXPECT_EQ(decode_node_name(bytes), "a [2");
  EXPECT_EQ(decode_node_name({}), "");
}

}  // namespace
}  // namespace stoker::fabric
