// What is looked at when an incident opens and five minutes later, and when that is not done, or is late.
#include "incident/look.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace stoker::incident {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Looks : public ::testing::Test {
 protected:
  Looks() {
    snapshot_.hostname = "node-1";
    snapshot_.source.state = device::SourceState::running;
    auto& gpu = snapshot_.gpus.emplace_back();
    gpu.info.pci = {0, 0x9a, 0, 0};
    gpu.info.uuid = "GPU-3";
    gpu.readings.set(FieldId::power, Reading::of(310.5, MonotonicTime{Seconds(1)}));
    gpu.readings.set(FieldId::temperature,
                     Reading::none(Reason::not_supported, MonotonicTime{Seconds(1)}));
    gpu.process_outcome = Reading::of(std::int64_t{1}, MonotonicTime{Seconds(1)});
    gpu.processes.push_back({.pid = 7, .name = "train"});
    incident_.entity = {EntityKind::gpu, "GPU-3"};
    incident_.pci = "0000:9a:00.0";
    incident_.opened_at = at(0);
    node_.boot = "boot-1";
    node_.owners[7] = "job 12";
  }
  static WallTime at(std::int64_t seconds) { return {Seconds(1'700'000'000 + seconds)}; }
  std::optional<Look> look(std::int64_t second) {
    auto due = due_look(incident_, {snapshot_, node_, said_, at(second)});
    if (due) incident_.looks.push_back(*due);
    return due;
  }
  void say(std::int64_t second, const std::string& text,
           std::optional<PciAddress> pci = PciAddress{0, 0x9a, 0, 0}) {
    events_.push_back({.pci = pci, .text = text, .time = at(second)});
  }

  Incident incident_;
  store::Snapshot snapshot_;
  NodeView node_;
  std::vector<Event> events_;
  const std::function<std::vector<Event>()> said_ = [this] { return events_; };
};

TEST_F(Looks, AreTwoOfAnIncidentAtItsOpeningAndFiveMinutesLater) {
  const auto opening = look(1);
  ASSERT_TRUE(opening);
  EXPECT_EQ(opening->kind, LookKind::opening);
  EXPECT_THAT(opening->lines, Contains("power_watts: 310.5"));
  EXPECT_THAT(opening->lines, Contains("temperature_celsius: none (not_supported)"));
  EXPECT_THAT(opening->lines, Contains("program: train, pid 7, of job 12"));
  EXPECT_FALSE(look(299));
  snapshot_.gpus[0].processes.clear();
  const auto later = look(300);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->kind, LookKind::afterwards);
  EXPECT_TRUE(later->made);
  EXPECT_FALSE(later->late);
  EXPECT_THAT(later->lines, Contains("programs: none"));
  EXPECT_FALSE(look(301));
  EXPECT_FALSE(look(3000));
}

TEST_F(Looks, SayWhatWasSaidInBetweenOfThatCardOrTheNode) {
  look(1);
  say(-5, "before it");
  say(20, "of this card");
  say(30, "of another", PciAddress{0, 0x1b, 0, 0});
  say(40, "of the node", std::nullopt);
  for (int n = 0; n < 40; ++n) say(50, "and on");
  const auto later = look(300);
  ASSERT_TRUE(later);
  EXPECT_THAT(later->lines, Contains(HasSubstr(": of this card")));
  EXPECT_THAT(later->lines, Contains(HasSubstr(": of the node")));
  EXPECT_THAT(later->lines, Not(Contains(HasSubstr("of another"))));
  EXPECT_THAT(later->lines, Not(Contains(HasSubstr("before it"))));
  EXPECT_EQ(later->lines.back(), "and 26 more lines");
}

TEST_F(Looks, AreMadeLateAfterARestartAndSaySo) {
  look(1);
  const auto later = look(900);
  ASSERT_TRUE(later);
  EXPECT_TRUE(later->made);
  EXPECT_TRUE(later->late);
  EXPECT_THAT(later->lines.front(), HasSubstr("late by "));
}

TEST_F(Looks, AreNotMadeWhereTheNodeWasDown) {
  look(1);
  node_.boot = "boot-2";
  const auto later = look(900);
  ASSERT_TRUE(later);
  EXPECT_FALSE(later->made);
  EXPECT_THAT(later->lines, ElementsAre(HasSubstr("the node was booted")));
}

TEST_F(Looks, AreNotMadeWhereNobodyLookedForTooLong) {
  look(1);
  const auto later = look(300 + 3601);
  ASSERT_TRUE(later);
  EXPECT_FALSE(later->made);
  EXPECT_THAT(later->lines, ElementsAre(HasSubstr("nobody looked for")));
}

TEST_F(Looks, AreNotMadeOfWhatOpenedLongBeforeAnybodyCouldLook) {
  EXPECT_FALSE(look(61));
  EXPECT_FALSE(look(361));
}

TEST_F(Looks, OfWhatIsAboutNoGpuSayThat) {
  incident_.entity = {EntityKind::node, "node-1"};
  incident_.pci.clear();
  const auto opening = look(1);
  ASSERT_TRUE(opening);
  EXPECT_THAT(opening->lines, ElementsAre("it is about no GPU that is here"));
}

}  // namespace
}  // namespace stoker::incident
