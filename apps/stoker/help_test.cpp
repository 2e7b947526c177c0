#include "help.h"

#include <gtest/gtest.h>

namespace stoker::app {
namespace {

TEST(Help, GoesOnBelowTheTextOfALineThatIsTooLong) {
  EXPECT_EQ(fitted("  stoker up            one two three four five six seven eight nine ten eleven "
                   "twelve thirteen\n  stoker gpus          short"),
            "  stoker up            one two three four five six seven eight nine ten eleven\n"
            "                       twelve thirteen\n"
            "  stoker gpus          short\n");
}

TEST(Help, FillsAParagraphThatWasWrittenWider) {
  EXPECT_EQ(fitted("Exit codes: " + std::string(60, 'a') + " 0 was told, or\nthe driver."),
            "Exit codes: " + std::string(60, 'a') + " 0 was\ntold, or the driver.\n");
  EXPECT_EQ(fitted("One.\nExit codes: 0 done."), "One.\nExit codes: 0 done.\n");
}

}  // namespace
}  // namespace stoker::app
