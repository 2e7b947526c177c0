#include "health/check_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "health/check_test_support.h"
#include "health/checks.h"

namespace stoker::health {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* whole = R"(checks:
  - id: mine
    title: t
    kind: threshold
    field: temperature
    is: at_least
    limit: 80
    severity: warning
    action: observe
    message: "{name} is at {value}"
    cause: c
    fix: f
    source: s
)";

// What is said of the file above with `from` replaced by `to`; "taken" if nothing.
std::string said(const std::string& from, const std::string& to, std::vector<Check> base = {}) {
  std::string text = whole;
  const auto at = text.find(from);
  if (at == std::string::npos) return "nothing to replace";
  text.replace(at, from.size(), to);
  const auto checks = read_checks(text, "my.yaml", std::move(base));
  return checks ? "taken" : checks.error().message();
}

TEST(CheckReader, TakesAWholeCheck) {
  const auto checks = read_checks(whole, "my.yaml");
  ASSERT_TRUE(checks);
  ASSERT_THAT(*checks, SizeIs(1));
  EXPECT_EQ(checks->front().condition.limit.place, "my.yaml:7:12");
}

TEST(CheckReader, RefusesWhatIsMissing) {
  EXPECT_EQ(said("    source: s\n", ""), "my.yaml:2:5: checks[0].source is missing");
  EXPECT_EQ(said("    limit: 80\n", ""), "my.yaml:2:5: checks[0].limit is missing");
  EXPECT_EQ(said("    field: temperature\n", ""),
            "my.yaml:2:5: checks[0].field is missing: kind threshold asks for it");
  EXPECT_EQ(said("kind: threshold", "kind: absence"),
            "my.yaml:2:5: checks[0].reasons is missing: kind absence asks for it");
  EXPECT_EQ(said("kind: threshold", "kind: state\n    is: one_of").substr(0, 11), "my.yaml:7:5");
}

TEST(CheckReader, RefusesFieldsThatAreNotThereOrAboutSomethingElse) {
  EXPECT_EQ(said("field: temperature", "field: temprature"),
            "my.yaml:5:12: checks[0].field: there is no field 'temprature'; did you mean "
            "'temperature'?");
  EXPECT_EQ(
      said("field: temperature", "field: shm_used"),
      "my.yaml:5:12: checks[0].field: 'shm_used' is about a node, and this check about a gpu");
  EXPECT_EQ(said("field: temperature", "fields: [temperature, power]"),
            "my.yaml:2:5: checks[0].fields have to be of one unit and about one thing");
  EXPECT_EQ(said("kind: threshold", "kind: rate\n    window: 1m"),
            "my.yaml:2:5: checks[0].field has to be a counter for kind rate");
}

TEST(CheckReader, RefusesValuesOfAnotherKind) {
  EXPECT_EQ(said("limit: 80", "limit: hot"),
            "my.yaml:7:12: checks[0].limit has to be a number, not 'hot'");
  EXPECT_EQ(said("limit: 80", "limit: {of: slowdown, offset: -2}"),
            "my.yaml:7:17: checks[0].limit.of: there is no field 'slowdown'; did you mean "
            "'slowdown_celsius'?");
  EXPECT_EQ(
      said("limit: 80", "limit: 80\n    for: 30"),
      "my.yaml:8:10: checks[0].for has to be a duration from 0s to 30d, e.g. 30s, 5m, not '30'");
  EXPECT_THAT(said("is: at_least", "is: any_bit"),
              HasSubstr("above, at_least, below and at_most for kind threshold, not 'any_bit'"));
  EXPECT_THAT(said("action: observe", "action: pray"), HasSubstr("my.yaml:9:13: checks[0].action"));
  EXPECT_EQ(said("{value}", "{valu}"),
            "my.yaml:10:14: checks[0].message has '{valu}'; known are {name}, {value}, {limit}, "
            "{reason}, {window} and {work}");
}

TEST(CheckReader, RefusesKeysAndIdsThatMeanNothing) {
  EXPECT_EQ(said("severity:", "severty:"),
            "my.yaml:2:5: checks[0].severity is missing\n"
            "my.yaml:8:5: unknown key 'severty' in checks[0]; did you mean 'severity'?");
  EXPECT_EQ(said("id: mine", "id: Mine"),
            "my.yaml:2:9: checks[0].id has to be of a-z, 0-9 and '-', not 'Mine'");
  EXPECT_EQ(said("id: mine", "id: gpu-lost"),
            "my.yaml:2:9: checks[0].id: 'gpu-lost' is a rule of the node, which no file changes");
  EXPECT_EQ(said("checks:\n", "checks:\n  - {id: mine, enabled: false}\n", checks_of(whole)),
            "my.yaml:3:9: checks[1].id: 'mine' stands twice in this file");
}

TEST(CheckReader, ChangesTheKeysThatAreNamedAlone) {
  const auto changed = read_checks("checks:\n- {id: mine, limit: 70, for: 5s}\n- {id: mine2}\n",
                                   "site.yaml", checks_of(whole));
  EXPECT_EQ(
      changed.error().message(),
      "site.yaml:3:8: checks[1].id: there is no check 'mine2' to change; did you mean 'mine'?");
  const auto good = read_checks("checks:\n- {id: mine, limit: 70, for: 5s, severity: error}\n",
                                "site.yaml", checks_of(whole));
  ASSERT_TRUE(good);
  const Check& check = good->front();
  EXPECT_EQ(check.condition.limit.offset, 70);
  EXPECT_EQ(check.holds_for, Seconds(5));
  EXPECT_EQ(check.severity, Severity::error);
  EXPECT_EQ(check.file, "site.yaml");
  EXPECT_EQ(check.message, "{name} is at {value}");
  EXPECT_EQ(check.condition.is, Relation::at_least);
}

TEST(CheckReader, ChangesNeitherWhatACheckIsAboutNorHowItJudges) {
  const auto base = checks_of(whole);
  EXPECT_EQ(
      read_checks("checks: [{id: mine, kind: delta}]", "s.yaml", base).error().message(),
      "s.yaml:1:27: checks[0].kind is threshold and can't be changed; add a check of another id");
  EXPECT_EQ(read_checks("checks: [{id: mine, scope: node}]", "s.yaml", base).error().message(),
            "s.yaml:1:28: checks[0].scope is gpu and can't be changed; add a check of another id");
}

// A folder of its own.
class Overrides : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "stoker-checks-XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string folder_;
};

TEST_F(Overrides, AreTakenInTheOrderOfTheirNames) {
  write("20-b.yaml", "checks: [{id: mine, limit: 60}]");
  write("10-a.yaml", "checks: [{id: mine, limit: 70, enabled: false}]");
  write("30-c.txt", "not for us");
  const auto set = read_overrides(folder_, checks_of(whole));
  ASSERT_TRUE(set);
  EXPECT_THAT(set->findings, IsEmpty());
  EXPECT_EQ(set->checks.front().condition.limit.offset, 60);
  EXPECT_FALSE(set->checks.front().enabled);
  EXPECT_EQ(CheckEngine(set->checks).checks().size(), 0U);
}

TEST_F(Overrides, ThatAreBrokenChangeNothingAndAreTold) {
  write("10-a.yaml", "checks: [{id: mine, limit: 70}, {id: mine, limit: 60}]");
  write("20-b.yaml", "checks: [{id: mine, severity: info}]");
  const auto set = read_overrides(folder_, checks_of(whole));
  ASSERT_TRUE(set);
  ASSERT_THAT(set->findings, SizeIs(1));
  EXPECT_EQ(set->findings[0].rule, "checks-file");
  EXPECT_EQ(set->findings[0].action, Action::fix_config);
  EXPECT_THAT(set->findings[0].evidence, ElementsAre(HasSubstr("10-a.yaml:1:38: checks[1].id")));
  EXPECT_EQ(set->checks.front().condition.limit.offset, 80);
  EXPECT_EQ(set->checks.front().severity, Severity::info) << "the other file is taken";
}

TEST_F(Overrides, OfAFolderThatIsNotThereAreAnError) {
  const auto set = read_overrides(folder_ + "/none", checks_of(whole));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace stoker::health
