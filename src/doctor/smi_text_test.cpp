#include "doctor/smi_text.h"

#include <gtest/gtest.h>

namespace stoker::doctor {
namespace {

TEST(SmiText, TellsPersistenceAndModeOfEachCard) {
  const auto cards = read_smi_text(
      "Attached GPUs : 2\nGPU 00000000:18:00.0\n    Persistence Mode      : Enabled\n    MIG Mode\n"
      "        Current     : Disabled\n        Pending     : Enabled\n    Accounting Mode : "
      "Disabled\n"
      "GPU 00000000:2A:00.0\n    Persistence Mode      : Disabled\n    MIG Mode\n        Current   "
      ": N/A\n"
      "        Pending     : N/A\n    ECC Mode\n        Current  : Enabled\n        Pending  : "
      "Disabled\n");
  ASSERT_EQ(cards.size(), 2U);
  EXPECT_EQ(cards[0].name, "GPU 00000000:18:00.0");
  EXPECT_EQ(cards[0].mig_current, "disabled");
  EXPECT_EQ(cards[0].mig_pending, "enabled");
  EXPECT_EQ(cards[0].persistence, "enabled");
  EXPECT_EQ(cards[1].mig_pending, "n/a");
  EXPECT_EQ(cards[1].persistence, "disabled");
}

TEST(SmiText, IsNothingForAnyOtherText) {
  EXPECT_TRUE(read_smi_text("").empty());
  EXPECT_TRUE(read_smi_text(
                  "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n")
                  .empty());
}

}  // namespace
}  // namespace stoker::doctor
