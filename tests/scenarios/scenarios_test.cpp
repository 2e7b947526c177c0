// Every file of this folder is a story and a test; the test's name is the file's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "health/checks.h"
#include "player.h"
#include "scenario.h"

namespace stoker::scenario {
namespace {

using ::testing::IsEmpty;

std::filesystem::path folder() {
  return std::filesystem::path(STOKER_SOURCE_DIR) / "tests/scenarios";
}

// "checks/hot-card.scenario"
std::vector<std::string> files() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
    if (entry.path().extension() != ".scenario") continue;
    all.push_back(std::filesystem::relative(entry.path(), folder()).string());
  }
  std::ranges::sort(all);
  return all;
}

Result<Scenario> scenario_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(folder() / file).rdbuf();
  return read(text.str(), file);
}

class Scenarios : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenarios, Goes) {
  const auto scenario = scenario_of(GetParam());
  ASSERT_TRUE(scenario) << scenario.error().message();
  const auto wrong = play(*scenario);
  ASSERT_TRUE(wrong) << wrong.error().message();
  EXPECT_THAT(*wrong, IsEmpty());
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).replace_extension().string();
  std::ranges::replace_if(name, [](char c) { return c == '-' || c == '/' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(File, Scenarios, ::testing::ValuesIn(files()), name_of);

// What these ask for, whose process runs where and what it does on the host, no scenario can tell: they are tried with
// the traces of real loads beside their source (docs/specs/hangs.md).
const std::set<std::string> of_jobs = {"job-hung", "job-waits-on-host", "job-suspect",
                                       "gpu-starved"};

struct Coverage {
  std::set<std::string> firing;
  std::set<std::string> silent;
  std::size_t from_reports = 0;
};

Coverage coverage() {
  Coverage all;
  for (const auto& file : files()) {
    const auto scenario = scenario_of(file);
    if (!scenario) continue;  // said by its own test
    all.from_reports += scenario->source == "made" ? 0 : 1;
    for (const auto& step : scenario->steps) {
      const auto* expected = std::get_if<ExpectFinding>(&step.act);
      if (expected != nullptr) (expected->none ? all.silent : all.firing).insert(expected->rule);
    }
  }
  return all;
}

TEST(ScenarioFiles, HaveEveryCheckOnceFiringAndOnceSilent) {
  const auto all = coverage();
  std::vector<std::string> missing;
  for (const auto& check : health::built_in_checks()) {
    if (of_jobs.contains(check.id)) continue;
    if (check.kind == health::CheckKind::port) continue;  // src/health/port_checks_test.cpp
    if (!all.firing.contains(check.id)) missing.push_back(check.id + " firing");
    if (!all.silent.contains(check.id)) missing.push_back(check.id + " silent");
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(ScenarioFiles, AreSixtyAndTwentyOfThemFromWhatWasReported) {
  EXPECT_GE(files().size(), 60U);
  EXPECT_GE(coverage().from_reports, 20U);
}

}  // namespace
}  // namespace stoker::scenario
