#include "event/sign_search.h"

#include <gtest/gtest.h>

#include <string>

namespace stoker::event {
namespace {

TEST(FindSign, FindsEveryWordAtEveryPlaceOfABlock) {
  for (const std::string word :
       {"NVRM: Xid", "SXid (PCI", "XID 63", "AER: C", "PCIe Bus Error:", "pciehp: S", "mlx5_core 0",
        "Killed process", "oom-kill:constraint", "EDAC MC0", "nv-fabricmanager[1]",
        "Failed with result", "MESSAGE\":[78"}) {
    for (std::size_t before = 0; before < 40; ++before) {
      for (const std::size_t after : {0U, 1U, 15U, 40U}) {
        const auto text = std::string(before, 'x') + word + std::string(after, 'y');
        const auto found = find_sign(text);
        ASSERT_NE(found, std::string::npos) << text;
        EXPECT_GE(found, before);
        EXPECT_LT(found, before + word.size());
      }
    }
  }
}

TEST(FindSign, PassesOverTextThatHasOnlyTheRarePairs) {
  EXPECT_EQ(
      find_sign(
          "VRML Xitami XIV AEROSPACE PIE hp lx Kiel m-k DAMN cm Far te :[ and more of all of them"),
      std::string::npos);
  EXPECT_EQ(find_sign(""), std::string::npos);
  EXPECT_EQ(find_sign("N"), std::string::npos);
  EXPECT_EQ(find_sign("NVRM"), std::string::npos);
}

TEST(FindSign, GoesOnBehindWhatItFound) {
  const std::string text = "NVRM: one NVRM: two, and a tail that fills a block";
  const auto first = find_sign(text);
  const auto second = find_sign(text, first + 1);
  EXPECT_EQ(text.substr(first, 8), "VRM: one");
  EXPECT_EQ(text.substr(second, 8), "VRM: two");
  EXPECT_EQ(find_sign(text, second + 1), std::string::npos);
}

TEST(CountLines, CountsInTextOfAnyLength) {
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 5000U}) {
    EXPECT_EQ(count_lines(std::string(size, '\n')), size);
    EXPECT_EQ(count_lines(std::string(size, 'x')), 0U);
  }
  EXPECT_EQ(count_lines("a\nb\nc"), 2U);
}

}  // namespace
}  // namespace stoker::event
