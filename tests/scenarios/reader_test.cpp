// What a scenario with a mistake is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "player.h"
#include "scenario.h"

namespace stoker::scenario {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string told(const std::string& steps) {
  const auto read_now = read("name: a\nsource: made\n" + steps, "x.scenario");
  return read_now ? "" : read_now.error().message();
}

TEST(ScenarioReader, SaysFileAndLineAndWhatWouldBeRight) {
  EXPECT_EQ(told("at 1m gpu 4 temperature 91\n"),
            "x.scenario:3: \"4\" is no GPU of this node: 0 to 3, or all");
  EXPECT_EQ(told("\n# so\nat 1m gpu 2 temperatur 91\n"),
            "x.scenario:5: \"temperatur\" is no field; did you mean 'temperature'?");
  EXPECT_THAT(told("at 1m gpu 2 link 0 nvlink_state 0\n"), HasSubstr("the header gives it some"));
  EXPECT_THAT(told("at 1m gpu 2 temperature warm\n"), HasSubstr("\"warm\" is no number"));
  EXPECT_THAT(told("at soon gpu 2 lost\n"), HasSubstr("x.scenario:3: at: \"soon\""));
  EXPECT_THAT(told("at 1m expect incident x colour=red\n"), HasSubstr("\"colour=red\": KEY=VALUE"));
  EXPECT_THAT(told("at 1m gpu 2 lost for good\n"), HasSubstr("more than belongs here"));
  EXPECT_THAT(told("colour: red\n"), HasSubstr("neither `at TIME` nor one of name"));
}

TEST(ScenarioReader, WantsTimesInOrderAndWhatHappensBeforeWhatIsExpected) {
  EXPECT_THAT(told("at 2m gpu 2 lost\nat 1m gpu 2 answers\n"), HasSubstr("x.scenario:4: steps"));
  EXPECT_THAT(told("at 1m expect no finding\nat 1m gpu 2 lost\n"),
              HasSubstr("x.scenario:4: at one time"));
  EXPECT_THAT(told("at -1m gpu 2 lost\n"), HasSubstr("lines of the kernel's log alone"));
  EXPECT_THAT(told("at 1m gpu 2 lost\ngpus: 2 t4\n"), HasSubstr("stands before what happens"));
}

std::vector<std::string> played(const std::string& steps) {
  const auto scenario = read("name: a\nsource: made\n" + steps, "x.scenario");
  if (!scenario) return {scenario.error().message()};
  const auto wrong = play(*scenario);
  return wrong ? *wrong : std::vector{wrong.error().message()};
}

TEST(ScenarioPlayer, TellsWhatIsNotAsExpectedAndWhatNobodyExpected) {
  const auto wrong = played("at 1m gpu 2 ecc_mode 0\nat 2m expect finding ecc-off on gpu 1\n");
  EXPECT_THAT(wrong,
              ElementsAre(HasSubstr("x.scenario:4: expected finding ecc-off on GPU-00000001"),
                          HasSubstr("x.scenario: finding ecc-off on GPU-00000002"),
                          HasSubstr("x.scenario: incident ecc-off came")));
  EXPECT_THAT(played("also: ecc-off\nat 1m gpu 2 ecc_mode 0\nat 2m expect no incident\n"),
              ElementsAre(HasSubstr("x.scenario:5: expected no incident")));
  EXPECT_THAT(played("also: ecc-off\nat 1m gpu 2 ecc_mode 0\n"
                     "at 2m expect incident ecc-off on gpu 2 severity=critical lines=1\n"),
              ElementsAre(HasSubstr("severity is warning and not critical;")));
  EXPECT_THAT(played("gpus: 2 h100-80\n"), ElementsAre(HasSubstr("h100-80gb")));
}

}  // namespace
}  // namespace stoker::scenario
