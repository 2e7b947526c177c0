#include "os/dcb.h"

#include <gtest/gtest.h>
#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include <array>
#include <cstring>
#include <functional>

namespace stoker::os {
namespace {

// An answer made by the kernel's documented contract (include/uapi/linux/dcbnl.h; net/dcb/dcbnl.c, dcbnl_ieee_fill).
class DcbAnswer {
 public:
  explicit DcbAnswer(const std::function<void(nlmsghdr*)>& fill) {
    message_ = mnl_nlmsg_put_header(buffer_.data());
    message_->nlmsg_type = RTM_GETDCB;
    auto* const head = static_cast<dcbmsg*>(mnl_nlmsg_put_extra_header(message_, sizeof(dcbmsg)));
    head->cmd = DCB_CMD_IEEE_GET;
    mnl_attr_put_strz(message_, DCB_ATTR_IFNAME, "eth7");
    nlattr* const group = mnl_attr_nest_start(message_, DCB_ATTR_IEEE);
    fill(message_);
    mnl_attr_nest_end(message_, group);
  }
  [[nodiscard]] std::string bytes() const {
    std::string out(message_->nlmsg_len, '\0');
    std::memcpy(out.data(), buffer_.data(), out.size());
    return out;
  }

 private:
  std::array<std::uint64_t, 1024> buffer_{};
  nlmsghdr* message_;
};

void put_pfc(nlmsghdr* message, std::uint8_t mask) {
  ieee_pfc pfc{};
  pfc.pfc_cap = 8;
  pfc.pfc_en = mask;
  mnl_attr_put(message, DCB_ATTR_IEEE_PFC, sizeof pfc, &pfc);
}

void put_apps(nlmsghdr* message, const std::vector<dcb_app>& apps) {
  nlattr* const table = mnl_attr_nest_start(message, DCB_ATTR_IEEE_APP_TABLE);
  for (const dcb_app& app : apps) mnl_attr_put(message, DCB_ATTR_IEEE_APP, sizeof app, &app);
  mnl_attr_nest_end(message, table);
}

TEST(Dcb, AnAnswerTellsFlowControlClassesAndTheDscpOfEachPriority) {
  const DcbAnswer answer([](nlmsghdr* message) {
    ieee_ets ets{};
    ets.prio_tc[3] = 3;
    ets.tc_tx_bw[3] = 50;
    ets.tc_tsa[3] = IEEE_8021QAZ_TSA_ETS;
    ets.tc_tsa[6] = IEEE_8021QAZ_TSA_STRICT;
    ets.tc_tsa[7] = IEEE_8021QAZ_TSA_VENDOR;
    mnl_attr_put(message, DCB_ATTR_IEEE_ETS, sizeof ets, &ets);
    put_pfc(message, 1U << 3U);
    put_apps(message, {{.selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 3, .protocol = 26},
                       {.selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 6, .protocol = 48},
                       {.selector = IEEE_8021QAZ_APP_SEL_ETHERTYPE, .priority = 1, .protocol = 0},
                       {.selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 9, .protocol = 1},
                       {.selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 1, .protocol = 64}});
  });
  const auto settings = parse_dcb_answer(answer.bytes());
  ASSERT_TRUE(settings) << settings.error().describe();
  EXPECT_EQ(settings->pfc, PriorityMask(8));
  ASSERT_TRUE(settings->ets);
  EXPECT_EQ(settings->ets->class_of[3], 3);
  EXPECT_EQ(settings->ets->percent[3], 50);
  EXPECT_EQ(settings->ets->selection[3], TrafficSelection::ets);
  EXPECT_EQ(settings->ets->selection[6], TrafficSelection::strict);
  EXPECT_EQ(settings->ets->selection[7], TrafficSelection::vendor);
  EXPECT_EQ(settings->priority_of_dscp, (std::map<unsigned, unsigned>{{26, 3}, {48, 6}}));
  EXPECT_FALSE(settings->trust) << "this kernel or driver does not say";
}

TEST(Dcb, ADriverThatSaysWhatItTrustsIsHeard) {
  const DcbAnswer answer([](nlmsghdr* message) {
    nlattr* const table = mnl_attr_nest_start(message, 11);
    mnl_attr_put_u8(message, DCB_ATTR_IEEE_APP, IEEE_8021QAZ_APP_SEL_DSCP);
    mnl_attr_put_u8(message, 2, 255);
    mnl_attr_nest_end(message, table);
  });
  const auto settings = parse_dcb_answer(answer.bytes());
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->trust, (std::vector<std::string>{"dscp", "pcp"}));
  EXPECT_FALSE(settings->pfc) << "not told is not off";
}

TEST(Dcb, ARefusalOfTheKernelIsItsError) {
  std::array<std::uint64_t, 64> buffer{};
  nlmsghdr* const message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = NLMSG_ERROR;
  auto* const error = static_cast<nlmsgerr*>(mnl_nlmsg_put_extra_header(message, sizeof(nlmsgerr)));
  const auto bytes = [&] {
    std::string out(message->nlmsg_len, '\0');
    std::memcpy(out.data(), buffer.data(), out.size());
    return out;
  };
  error->error = -EOPNOTSUPP;
  EXPECT_EQ(parse_dcb_answer(bytes()).error().code(), ErrorCode::not_supported);
  error->error = -ENODEV;
  EXPECT_EQ(parse_dcb_answer(bytes()).error().code(), ErrorCode::not_found);
}

TEST(Dcb, WhatIsCutOrEmptyIsNoAnswer) {
  const DcbAnswer answer([](nlmsghdr* message) { put_pfc(message, 8); });
  const std::string whole = answer.bytes();
  EXPECT_EQ(parse_dcb_answer("").error().code(), ErrorCode::corrupt);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_dcb_answer(whole.substr(0, size))) << size;
  std::string shorter = whole;
  const auto length = static_cast<std::uint32_t>(whole.size() - 8);
  std::memcpy(shorter.data(), &length,
              sizeof length);  // the message says that it ends within its attribute
  const auto cut = parse_dcb_answer(shorter);
  EXPECT_TRUE(!cut || !cut->pfc);
}

TEST(Dcb, AMessageThatSaysToBeLongerThanAllMemoryIsRefused) {
  const DcbAnswer answer([](nlmsghdr* message) { put_pfc(message, 8); });
  for (const std::uint32_t length : {0xffffffffU, 0x80000000U, 0x7fffffffU, 15U, 0U}) {
    std::string bytes = answer.bytes();
    std::memcpy(bytes.data(), &length, sizeof length);
    EXPECT_EQ(parse_dcb_answer(bytes).error().code(), ErrorCode::corrupt) << length;
    EXPECT_EQ(parse_dcb_answer(answer.bytes() + bytes).error().code(), ErrorCode::corrupt)
        << length;
  }
}

TEST(Dcb, TheLoopbackDeviceHasNone) {
  EXPECT_EQ(read_dcb("lo").error().code(), ErrorCode::not_supported);
  EXPECT_EQ(read_dcb("no-such-device").error().code(), ErrorCode::not_found);
  EXPECT_EQ(read_dcb("").error().code(), ErrorCode::invalid_input);
  EXPECT_EQ(read_dcb(std::string(16, 'x')).error().code(), ErrorCode::invalid_input);
}

}  // namespace
}  // namespace stoker::os
