// docs/how-to-add-a-check.md says what can be done: its example is done here.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "health/check_test_support.h"
#include "health/checks.h"

namespace stoker::health {
namespace {

std::string example() {
  std::ifstream in(STOKER_SOURCE_DIR "/docs/how-to-add-a-check.md");
  std::ostringstream text;
  text << in.rdbuf();
  const std::string page = text.str();
  const std::string begin = "```yaml\n";
  const auto at = page.find(begin);
  if (at == std::string::npos) return "";
  return page.substr(at + begin.size(), page.find("```", at + 1) - at - begin.size());
}

TEST(ThePageAboutChecks, HasAnExampleThatWorks) {
  const auto checks = read_checks(example(), "site.yaml", built_in_checks());
  ASSERT_TRUE(checks) << checks.error().message();
  const auto replays = std::ranges::find(*checks, "pcie-replays", &Check::id);
  EXPECT_EQ(replays->condition.limit.offset, 100);
  EXPECT_EQ(replays->severity, Severity::info);
  EXPECT_FALSE(std::ranges::find(*checks, "persistence-off", &Check::id)->enabled);
  CheckEngine engine(*checks);
  TestNode node;
  node.tell({{"cpu_busy", 99}});
  engine.evaluate(node.pass(Seconds(1)));
  const auto found = engine.evaluate(node.pass(Seconds(600)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "The CPUs of node1 are busy, 99 % of the time");
  EXPECT_EQ(found[0].state, FindingState::firing);
}

}  // namespace
}  // namespace stoker::health
