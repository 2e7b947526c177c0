// An incident told front to back says of each line what it has to do with the cause.
#include "incident/account.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "incident/story_test_support.h"

namespace stoker::incident {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> parts_of(const Account& account) {
  std::vector<std::string> parts;
  for (const auto& line : account.lines) parts.emplace_back(to_string(line.part));
  return parts;
}

TEST(Account, KnowsTheCauseWhatFollowsAndWhatWasThoughtBefore) {
  Story story;
  story.line(0, "NVRM: Xid ({0}): 119, pid=20, name=x, Timeout")
      .line(1, "NVRM: Xid ({0}): 79, GPU has fallen off the bus.")
      .line(2, "NVRM: Xid ({0}): 45, pid=20, name=x, Ch 00000008");
  const auto incident = story.book().all().at(0);
  const auto account = account_of(incident, std::nullopt);
  EXPECT_EQ(account.cause.word, "gpu-off-bus");
  EXPECT_THAT(parts_of(account), ElementsAre("follows", "story", "cause", "story", "follows"));
  EXPECT_THAT(account.xids, ElementsAre(79, 119, 45));
  EXPECT_THAT(account.lines[0].why, HasSubstr("gpu-firmware, which follows from gpu-off-bus"));
  EXPECT_EQ(account.lines[1].text, "opened");
}

TEST(Account, OfWhatAChecksReadSaysThatItWasNoLine) {
  Story story;
  story.found(0, {finding_of("gpu-lost", 1)});
  const auto account = account_of(story.book().all().at(0), std::nullopt);
  EXPECT_THAT(parts_of(account), ElementsAre("check", "story"));
  EXPECT_TRUE(account.xids.empty());
}

}  // namespace
}  // namespace stoker::incident
