// What is embedded is what the rows say, and asks for no newer driver.
#include "diag/kernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace stoker::diag {
namespace {

TEST(Modules, AskForTheVersionAndTheTargetOfTheirRow) {
  for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(Module::count_); ++i) {
    const ModuleRow& row = row_of(static_cast<Module>(i));
    const std::string text(row.text());
    EXPECT_NE(text.find(fmt::format("\n.version {}\n", row.version)), std::string::npos)
        << row.name;
    EXPECT_NE(text.find(fmt::format("\n.target {}\n", row.target)), std::string::npos) << row.name;
    EXPECT_EQ(text.find("sm_", text.find(".target") + 12), std::string::npos) << row.name;
  }
}

TEST(Modules, HoldTheirKernels) {
  for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(Kernel::count_); ++i) {
    const KernelRow& row = row_of(static_cast<Kernel>(i));
    const std::string text(row_of(row.module).text());
    EXPECT_NE(text.find(fmt::format(".entry {}(", row.symbol)), std::string::npos) << row.symbol;
  }
}

TEST(Modules, RunOnTheirArchitectureAndLaterOnes) {
  EXPECT_FALSE(runs_on(Module::memory, 70));
  EXPECT_TRUE(runs_on(Module::memory, 75));
  EXPECT_TRUE(runs_on(Module::memory, 120));
  EXPECT_FALSE(runs_on(Module::tensor89, 80));
}

}  // namespace
}  // namespace stoker::diag
