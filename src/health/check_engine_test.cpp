#include "health/check_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "health/check_test_support.h"

namespace stoker::health {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// One check with the usual texts and `keys`, a line each.
std::vector<Check> check_with(const std::string& keys) {
  return checks_of("checks:\n- id: one\n  title: t\n  severity: warning\n  action: observe\n" +
                   keys + "\n  message: \"{name} {value}\"\n  cause: c\n  fix: f\n  source: s\n");
}

CheckEngine hot_for_10s() {
  return CheckEngine(
      check_with("  kind: threshold\n  field: temperature\n  is: at_least\n  limit: 80\n  for: "
                 "10s\n  clear_for: 5s"));
}

// Until it fires.
void heat(CheckEngine& engine, TestNode& node) {
  node.tell({{"temperature", 90}});
  engine.evaluate(node.pass(Seconds(1)));
  engine.evaluate(node.pass(Seconds(10)));
}

TEST(CheckEngine, FiresWhenTheConditionHeldForLongEnoughAndIsSuspectBefore) {
  CheckEngine engine = hot_for_10s();
  TestNode node;
  node.tell({{"temperature", 80}});
  const auto first = engine.evaluate(node.pass(Seconds(1)));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].state, FindingState::suspect);
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(9)))), IsEmpty());
  const auto last = engine.evaluate(node.pass(Seconds(1)));
  EXPECT_THAT(firing(last), ElementsAre("one: GPU 0 (0000:10:00.0) 80 °C"));
  EXPECT_EQ(last[0].since, first[0].since);
  EXPECT_EQ(last[0].since, WallTime{Seconds(1'700'000'001)});
  EXPECT_THAT(last[0].evidence,
              ElementsAre("temperature = 80 °C, read 0 ns ago",
                          "limit: at least 80 °C, from test.yaml:9:10", HasSubstr("held for 10")));
}

TEST(CheckEngine, BeginsAnewWhenTheConditionWasMissedOnce) {
  CheckEngine engine = hot_for_10s();
  TestNode node;
  node.tell({{"temperature", 90}});
  engine.evaluate(node.pass(Seconds(1)));
  engine.evaluate(node.pass(Seconds(9)));
  node.tell({{"temperature", 79}});
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(1))), IsEmpty());
  node.tell({{"temperature", 90}});
  engine.evaluate(node.pass(Seconds(1)));
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(9)))), IsEmpty());
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))), Not(IsEmpty()));
}

TEST(CheckEngine, EndsWhenTheConditionWasGoneForLongEnough) {
  CheckEngine engine = hot_for_10s();
  TestNode node;
  heat(engine, node);
  node.tell({{"temperature", 70}});
  const auto going = engine.evaluate(node.pass(Seconds(1)));
  ASSERT_THAT(firing(going), ElementsAre("one: GPU 0 (0000:10:00.0) 90 °C"));
  EXPECT_THAT(going[0].evidence.back(), HasSubstr("no longer so"));
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(4)))), Not(IsEmpty()));
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(1))), IsEmpty());
}

TEST(CheckEngine, TakesWhatIsNotKnownForNeitherGoodNorBad) {
  CheckEngine engine = hot_for_10s();
  TestNode node;
  node.tell({{"temperature", 90}});
  engine.evaluate(node.pass(Seconds(1)));
  engine.evaluate(node.pass(Seconds(5)));
  node.untell("temperature", Reason::hung);
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(60)))), IsEmpty()) << "nor does it fire";
  node.tell({{"temperature", 90}});
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(60)))), IsEmpty()) << "60 s were not seen";
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(5)))), Not(IsEmpty())) << "5 s and 5 s";
  node.untell("temperature", Reason::stale);
  const auto kept = engine.evaluate(node.pass(Seconds(60)));
  ASSERT_THAT(firing(kept), Not(IsEmpty())) << "nor does it end";
  EXPECT_THAT(kept[0].evidence, ElementsAre(HasSubstr("temperature is not known: the last value"),
                                            HasSubstr("limit"), HasSubstr("not known now")));
}

TEST(CheckEngine, AFindingWhoseReadingFailsIsNeverCuredBySilence) {
  CheckEngine engine = hot_for_10s();
  TestNode node;
  heat(engine, node);
  node.untell("temperature", Reason::failed);
  for (int n = 0; n < 100; ++n) engine.evaluate(node.pass(Seconds(60)));
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(60)))), Not(IsEmpty()));
}

TEST(CheckEngine, WhatIsRememberedOfACheckThatStaysIsKept) {
  CheckEngine engine = hot_for_10s();
  const auto same = engine.checks();
  TestNode node;
  node.tell({{"temperature", 90}});
  engine.evaluate(node.pass(Seconds(1)));
  engine.evaluate(node.pass(Seconds(10)));
  engine.set_checks(same);
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))), Not(IsEmpty()));
  auto other = same;
  other.at(0).condition.limit.offset += 1;
  engine.set_checks(other);
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))), IsEmpty()) << "another check";
  engine.set_checks(same);
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))), IsEmpty()) << "begins anew";
}

TEST(CheckEngine, ForgetsWhatWasNotKnownForTenMinutes) {
  CheckEngine engine = hot_for_10s();
  TestNode node;
  heat(engine, node);
  node.untell("temperature", Reason::not_supported);
  engine.evaluate(node.pass(Seconds(1)));
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(599)))), Not(IsEmpty()));
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(1))), IsEmpty());
}

TEST(CheckEngine, CountsReadingsAndNotSnapshots) {
  CheckEngine engine(
      check_with("  kind: state\n  field: fabric_state\n  values: [1, 2]\n  consecutive: 3"));
  TestNode node;
  node.tell({{"fabric_state", 1}});
  store::Snapshot snapshot = node.pass(Seconds(1));
  for (int n = 0; n < 10; ++n) {
    snapshot.taken_at = snapshot.taken_at + Seconds(1);
    EXPECT_THAT(firing(engine.evaluate(snapshot)), IsEmpty()) << "one reading, told ten times";
  }
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(20)))), IsEmpty());
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(20)))), Not(IsEmpty()));
}

TEST(CheckEngine, WaitsAfterTheStart) {
  CheckEngine engine(
      check_with("  kind: state\n  field: fabric_state\n  values: [1]\n  boot_grace: 5m"));
  TestNode node;
  node.tell({{"fabric_state", 1}});
  engine.evaluate(node.pass(Seconds(1)));
  const auto early = engine.evaluate(node.pass(Seconds(298)));
  EXPECT_THAT(firing(early), IsEmpty());
  EXPECT_THAT(early[0].evidence.back(), HasSubstr("waits until 5 min"));
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(2)))), Not(IsEmpty()));
}

TEST(CheckEngine, ComparesWithTheCardsOwnLimitAndKnowsNothingWithoutOne) {
  CheckEngine engine(
      check_with("  kind: threshold\n  field: temperature\n  is: at_least\n"
                 "  limit: {of: slowdown_celsius, offset: -2}"));
  TestNode node(2);
  node.snapshot.gpus[0].info.slowdown_celsius = 89;
  node.tell_all({{"temperature", 87}});
  const auto found = engine.evaluate(node.pass(Seconds(1)));
  ASSERT_THAT(firing(found), ElementsAre("one: GPU 0 (0000:10:00.0) 87 °C"));
  EXPECT_EQ(found[0].evidence.at(1), "limit: at least 87 °C, this card's slowdown_celsius - 2");
}

TEST(CheckEngine, TellsARateOfACounterThatBeganAnewRight) {
  CheckEngine engine(
      check_with("  kind: rate\n  field: pcie_replays\n  window: 1m\n  is: above\n  limit: 8"));
  TestNode node;
  node.tell({{"pcie_replays", 1000}});
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(15))), IsEmpty()) << "what was there is not new";
  node.tell({{"pcie_replays", 1008}});
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(15))), IsEmpty());
  node.tell({{"pcie_replays", 1009}});
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(15)))),
              ElementsAre("one: GPU 0 (0000:10:00.0) 9"));
  node.tell({{"pcie_replays", 0}});
  engine.evaluate(node.pass(Seconds(15)));
  node.tell({{"pcie_replays", 3}});
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(15))), IsEmpty());
}

TEST(CheckEngine, TellsTheShareOfTimeOfACounterOfNanoseconds) {
  CheckEngine engine(check_with(
      "  kind: rate\n  field: thermal_violation\n  window: 1m\n  is: at_least\n  limit: 5"));
  TestNode node;
  node.tell({{"thermal_violation", 0}});
  engine.evaluate(node.pass(Seconds(15)));
  node.tell({{"thermal_violation", 1e9}});
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(15))), IsEmpty()) << "too short to judge";
  node.tell({{"thermal_violation", 6e9}});
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(25)))),
              ElementsAre("one: GPU 0 (0000:10:00.0) 15 %"));
}

TEST(CheckEngine, ComparesAGpuWithTheMedianOfOthersOfItsKind) {
  CheckEngine engine(
      check_with("  kind: peers\n  field: temperature\n  is: at_least\n  limit: 15"));
  TestNode node(4);
  node.tell({{"temperature", 70}}, 0);
  node.tell({{"temperature", 50}}, 1);
  node.tell({{"temperature", 56}}, 2);
  node.tell({{"temperature", 54}}, 3);
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))),
              ElementsAre("one: GPU 0 (0000:10:00.0) 16 °C"));
  node.snapshot.gpus[1].info.name = node.snapshot.gpus[2].info.name = "another";
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))), Not(IsEmpty()))
      << "no longer comparable: not known, so it does not end";
  EXPECT_THAT(CheckEngine(engine.checks()).evaluate(node.pass(Seconds(1))), IsEmpty())
      << "one other alone can't say which of the two is odd";
}

TEST(CheckEngine, ComparesAGpuWithTheOthersOfItsJobAlone) {
  CheckEngine engine(
      check_with("  kind: peers\n  among: job\n  field: sm_clock\n  is: at_most\n  limit: -200"));
  TestNode node(5);
  node.tell_all({{"sm_clock", 1900}});
  node.tell({{"sm_clock", 1500}}, 2);
  Attribution owners;
  for (std::uint32_t gpu = 0; gpu < 5; ++gpu) {
    node.snapshot.gpus[gpu].processes = {{.pid = gpu + 1}};
    owners.owners[gpu + 1].job = SlurmJob{.id = gpu < 3 ? "7" : "8"};
  }
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(1))), IsEmpty()) << "whose they are is not known";
  node.snapshot.attribution = std::make_shared<const Attribution>(owners);
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))),
              ElementsAre("one: GPU 2 (0000:12:00.0) -400 MHz"));
  owners.owners[9].job = SlurmJob{.id = "8"};
  node.snapshot.gpus[2].processes.push_back({.pid = 9});
  node.snapshot.attribution = std::make_shared<const Attribution>(owners);
  EXPECT_THAT(CheckEngine(engine.checks()).evaluate(node.pass(Seconds(1))), IsEmpty())
      << "two jobs share it";
}

TEST(CheckEngine, CountsXidsThatCameBeforeItsFirstSightOfTheGpu) {
  CheckEngine engine(
      check_with("  kind: frequency\n  xids: [48, 94]\n  window: 1h\n  is: at_least\n  limit: 2"));
  TestNode node;
  node.snapshot.gpus[0].xids = {{48, {.count = 1}}, {94, {.count = 1}}, {13, {.count = 9}}};
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))),
              ElementsAre("one: GPU 0 (0000:10:00.0) 2"));
  engine.evaluate(node.pass(Seconds(3000)));
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(3000))), IsEmpty()) << "two hours ago";
}

TEST(CheckEngine, AsksAllGpusOfTheNode) {
  CheckEngine engine(check_with(
      "  kind: threshold\n  scope: node\n  field: temperature\n  is: at_least\n  limit: 80"));
  TestNode node(3);
  node.tell_all({{"temperature", 85}});
  node.tell({{"temperature", 82}}, 1);
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))), ElementsAre("one: node1 82 °C"));
  node.tell({{"temperature", 79}}, 2);
  EXPECT_THAT(engine.evaluate(node.pass(Seconds(1))), IsEmpty());
  TestNode alone;
  alone.tell({{"temperature", 85}});
  EXPECT_THAT(CheckEngine(engine.checks()).evaluate(alone.pass(Seconds(1))), IsEmpty());
}

TEST(CheckEngine, ToldReasonsOfAnAbsenceFireAndOthersAreNotKnown) {
  CheckEngine engine(
      check_with("  kind: absence\n  field: temperature\n  reasons: [failed, invalid]"));
  TestNode node(3);
  node.untell("temperature", Reason::failed, 0);
  node.untell("temperature", Reason::stale, 1);
  node.tell({{"temperature", 40}}, 2);
  const auto found = engine.evaluate(node.pass(Seconds(1)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].entity.id, node.snapshot.gpus[0].info.uuid);
  EXPECT_THAT(found[0].evidence.front(), HasSubstr("the driver call failed"));
}

TEST(CheckEngine, LeavesOutWhatIsNotAboutThisCard) {
  CheckEngine engine(
      check_with("  kind: threshold\n  field: temperature\n  is: at_least\n  limit: 80\n"
                 "  architectures: [turing, ampere]\n  products: [A100]"));
  TestNode node(3);
  node.tell_all({{"temperature", 85}});
  node.snapshot.gpus[1].info.architecture = "ampere";
  node.snapshot.gpus[1].info.name = "NVIDIA A100-SXM4-80GB";
  node.snapshot.gpus[2].info.architecture = "ampere";
  EXPECT_THAT(firing(engine.evaluate(node.pass(Seconds(1)))),
              ElementsAre("one: GPU 1 (0000:11:00.0) 85 °C"));
}

TEST(CheckEngine, ForgetsEntitiesThatWentAway) {
  CheckEngine engine = hot_for_10s();
  TestNode node(2, 18);
  engine.evaluate(node.pass(Seconds(1)));
  EXPECT_EQ(engine.entities(), 1U + 2 + 36);
  node.snapshot.gpus.pop_back();
  engine.evaluate(node.pass(Seconds(1)));
  EXPECT_EQ(engine.entities(), 1U + 1 + 18);
}

}  // namespace
}  // namespace stoker::health
