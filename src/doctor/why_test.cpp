#include "doctor/why.h"

#include <gtest/gtest.h>

namespace stoker::doctor {
namespace {

CardPicture busy_card() {
  CardPicture card;
  card.index = 3;
  card.uuid = "GPU-00000003-0000-4000-8000-000000000003";
  card.pci = "0000:61:00.0";
  card.state = "present";
  card.readings = {
      {"utilization_percent", 99},    {"throttle_reasons", 4},     {"power_watts", 690},
      {"power_limit_watts", 700},     {"sm_clock_mhz", 1800},      {"pcie_width", 16},
      {"memory_total_bytes", 8.6e10}, {"memory_used_bytes", 8e10}, {"memory_free_bytes", 6e9}};
  card.limits = {
      {"power_limit_default_watts", 700}, {"max_pcie_width", 16}, {"max_sm_clock_mhz", 1980}};
  card.works = {
      {.pid = 4711, .name = "python", .memory_bytes = 7e10, .pod = "training/bert-0", .job = ""}};
  card.pods = {"training/bert-0"};
  return card;
}

NodePicture picture_of(CardPicture card) {
  NodePicture picture;
  picture.cards = {std::move(card)};
  return picture;
}

Answer ask(Question question, const NodePicture& picture, std::string_view target = "") {
  const auto answers = why(question, target, picture);
  EXPECT_TRUE(answers) << (answers ? "" : answers.error().message());
  return answers && !answers->empty() ? answers->front() : Answer{};
}

Finding finding_of(const CardPicture& card, const std::string& rule,
                   FindingState state = FindingState::firing) {
  Finding finding;
  finding.rule = rule;
  finding.state = state;
  finding.entity = {EntityKind::gpu, card.uuid};
  finding.message = "told by " + rule;
  finding.fix = "do it";
  return finding;
}

TEST(WhyIdle, TellsAFreeCardFromOneThatIsHeldAndOneWhoseHolderIsUnknown) {
  auto card = busy_card();
  card.readings["utilization_percent"] = 0;
  card.works.clear();
  EXPECT_EQ(ask(Question::idle, picture_of(card)).conclusion,
            "Pod training/bert-0 holds it, and no process of it has opened it.");
  card.pods.clear();
  EXPECT_EQ(ask(Question::idle, picture_of(card)).certainty, Certainty::certain);
  card.pods_unknown = "no kubelet is seen on this node";
  const auto answer = ask(Question::idle, picture_of(card));
  EXPECT_EQ(answer.certainty, Certainty::unknown);
  EXPECT_EQ(answer.missing.size(), 1U);
}

TEST(WhyIdle, DoesNotGuessWhatAProcessThatRunsNothingWaitsFor) {
  auto card = busy_card();
  card.readings["utilization_percent"] = 0;
  auto picture = picture_of(card);
  EXPECT_EQ(ask(Question::idle, picture).certainty, Certainty::likely);
  EXPECT_FALSE(ask(Question::idle, picture).missing.empty());
  picture.findings = {finding_of(card, "job-hung")};
  EXPECT_EQ(ask(Question::idle, picture).conclusion, "told by job-hung.");
  picture.findings = {finding_of(card, "job-hung", FindingState::suspect)};
  EXPECT_EQ(ask(Question::idle, picture).certainty, Certainty::likely);
}

TEST(WhyIdle, IsUnknownWithoutAReadingAndInMigMode) {
  auto card = busy_card();
  card.readings.erase("utilization_percent");
  card.reasons["utilization_percent"] = "stale";
  EXPECT_EQ(ask(Question::idle, picture_of(card)).certainty, Certainty::unknown);
  card = busy_card();
  card.mig = true;
  EXPECT_EQ(ask(Question::idle, picture_of(card)).certainty, Certainty::unknown);
  card.state = "lost";
  EXPECT_EQ(ask(Question::idle, picture_of(card)).certainty, Certainty::certain);
}

TEST(WhySlow, FindsNoFaultInACardAtItsOwnPowerLimit) {
  const auto answer = ask(Question::slow, picture_of(busy_card()));
  EXPECT_EQ(answer.conclusion, "Nothing that was looked at slows the card down.");
  EXPECT_EQ(answer.certainty, Certainty::unknown);
}

TEST(WhySlow, NamesTheBrakeTheLoweredLimitAndTheLostLanes) {
  auto card = busy_card();
  card.readings["throttle_reasons"] = 0x40 | 0x8;
  EXPECT_EQ(ask(Question::slow, picture_of(card)).conclusion,
            "Its clocks are held down: hardware slowdown.");
  card = busy_card();
  card.readings["power_limit_watts"] = 400;
  EXPECT_EQ(ask(Question::slow, picture_of(card)).conclusion,
            "Its power limit was lowered to 400 W; its own is 700 W.");
  card = busy_card();
  card.readings["pcie_width"] = 8;
  EXPECT_EQ(ask(Question::slow, picture_of(card)).certainty, Certainty::certain);
}

TEST(WhyOom, TellsTheHostsMemoryFromTheCards) {
  auto picture = picture_of(busy_card());
  auto answer = ask(Question::oom, picture, "training/bert-0");
  EXPECT_EQ(answer.certainty, Certainty::unknown);
  EXPECT_NE(answer.missing.front().find("the program's own message"), std::string::npos);
  picture.events = {{.time = "2026-11-29T12:00:00Z",
                     .kind = "oom",
                     .sign = "cgroup_oom",
                     .process = "python",
                     .pid = 4711,
                     .pci = "",
                     .text = "Memory cgroup out of memory: Killed process 4711 (python)"}};
  answer = ask(Question::oom, picture, "pid:4711");
  EXPECT_EQ(answer.certainty, Certainty::certain);
  EXPECT_EQ(answer.conclusion.substr(0, 12), "Host memory:");
  // Killed and gone: the kernel's line is what is left of it.
  picture.cards.front().works.clear();
  EXPECT_EQ(ask(Question::oom, picture, "4711").certainty, Certainty::certain);
  picture.events_unknown = "/dev/kmsg: permission denied";
  picture.events.clear();
  EXPECT_EQ(ask(Question::oom, picture, "3").missing.front(),
            "whether the kernel killed anybody: /dev/kmsg: permission denied");
}

TEST(WhyOom, TakesNoKillForItsAnswerThatIsNotShownToBeOfThoseAskedAbout) {
  auto picture = picture_of(busy_card());
  picture.events = {{.time = "2026-11-29T12:00:00Z",
                     .kind = "oom",
                     .sign = "cgroup_oom",
                     .process = "sshd",
                     .pid = 99,
                     .pci = "",
                     .text = "Killed process 99 (sshd)"}};
  for (const auto* target : {"3", "training/bert-0", "pid:4711"}) {
    const auto answer = ask(Question::oom, picture, target);
    EXPECT_EQ(answer.certainty, Certainty::unknown) << target;
    EXPECT_FALSE(answer.wrong) << target;
    EXPECT_NE(answer.looks.front().at.find("not shown to be of"), std::string::npos) << target;
    EXPECT_NE(answer.looks.front().seen.find("sshd"), std::string::npos) << target;
  }
  picture.events.front().pid = 4711;
  EXPECT_EQ(ask(Question::oom, picture, "3").certainty, Certainty::likely);
  EXPECT_TRUE(ask(Question::oom, picture, "3").wrong);
}

TEST(Why, CallsNothingWrongThatIsAsItShouldBe) {
  auto card = busy_card();
  EXPECT_FALSE(ask(Question::idle, picture_of(card)).wrong);
  EXPECT_FALSE(ask(Question::slow, picture_of(card)).wrong);
  EXPECT_TRUE(ask(Question::pending, picture_of(card)).wrong) << "it has no GPU to give";
  card.readings["throttle_reasons"] = 0x80;
  EXPECT_TRUE(ask(Question::slow, picture_of(card)).wrong);
  card.state = "lost";
  EXPECT_TRUE(ask(Question::idle, picture_of(card)).wrong);
}

TEST(WhyPending, KnowsWhatTheNodeHasAndNamesWhatTheClusterKnows) {
  auto picture = picture_of(busy_card());
  EXPECT_EQ(ask(Question::pending, picture).conclusion,
            "This node has no GPU to give: 1 of 1 are held, 0 are not sound.");
  picture.cards.front().pods.clear();
  EXPECT_EQ(ask(Question::pending, picture).certainty, Certainty::likely);
  EXPECT_EQ(ask(Question::pending, picture).missing.size(), 2U);
  picture.cards.front().pods_unknown = "no kubelet is seen on this node";
  EXPECT_EQ(ask(Question::pending, picture).certainty, Certainty::unknown);
}

TEST(Why, KnowsCardsProcessesAndPodsByTheirNamesAndNothingElse) {
  const auto picture = picture_of(busy_card());
  for (const auto* target : {"3", "GPU-00000003-0000-4000-8000-000000000003", "0000:61:00.0",
                             "pid:4711", "4711", "bert-0", "training/bert-0"}) {
    EXPECT_TRUE(why(Question::slow, target, picture)) << target;
  }
  EXPECT_FALSE(why(Question::slow, "5", picture));
  EXPECT_FALSE(why(Question::slow, "other", picture));
  EXPECT_FALSE(why(Question::slow, "", NodePicture{}));
  EXPECT_EQ(answers_json(Question::slow, {}),
            R"({"schema":"stoker.dev/v1/answer","question":"slow","answers":[]})");
}

}  // namespace
}  // namespace stoker::doctor
