#include "model/pci_address.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace stoker {
namespace {

TEST(PciAddress, prints_the_three_spellings_of_sysfs_nvml_and_the_kernel_log) {
  const PciAddress address{0, 0x3b, 0, 0};
  EXPECT_EQ(address.sysfs(), "0000:3b:00.0");
  EXPECT_EQ(address.nvml(), "00000000:3B:00.0");
  EXPECT_EQ(address.xid(), "PCI:0000:3b:00");
}

TEST(PciAddress, refuses_what_is_no_address_and_shows_it) {
  for (const char* text : {"", "3b", "zz:00.0", "0000:3b:00.9", "0000:3b:20.0", "0000:3b:00.0 ",
                           "000000000:3b:00.0", "0000:13b:00.0", "PCI:", "1:2:3:4", "100:00.0"}) {
    const auto parsed = PciAddress::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_NE(parsed.error().message().find(text), std::string::npos);
  }
}

RC_GTEST_PROP(PciAddress, reads_back_each_spelling_that_it_prints,
              (std::uint32_t domain, std::uint8_t bus)) {
  const PciAddress address{domain, bus, static_cast<std::uint8_t>(*rc::gen::inRange(0, 32)),
                           static_cast<std::uint8_t>(*rc::gen::inRange(0, 8))};
  RC_ASSERT(PciAddress::parse(address.sysfs()).value() == address);
  RC_ASSERT(PciAddress::parse(address.nvml()).value() == address);
  PciAddress without_function = address;
  without_function.function = 0;
  RC_ASSERT(PciAddress::parse(address.xid()).value() == without_function);
}

}  // namespace
}  // namespace stoker
