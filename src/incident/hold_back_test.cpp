// What waits for the end of a planned maintenance, and what does not.
#include "incident/hold_back.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "event/event_parser.h"
#include "incident/story_test_support.h"

namespace stoker::incident {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* firmware =
    "NVRM: Xid (PCI:0000:{}0:00): 119, pid=20, name=nvidia-smi, Timeout after 6s of waiting for "
    "RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20808 0x4).";

class Held : public ::testing::Test {
 protected:
  Held() { held_.begin(mark()); }

  static Maintenance mark() {
    return {.began = at(0),
            .ends = at(600),
            .began_at = MonotonicTime{Seconds(5000)},
            .boot = "boot-1",
            .who = "root",
            .why = "new driver",
            .waiting = {}};
  }
  static Now now(std::int64_t second) {
    return {MonotonicTime{Seconds(5000 + second)}, at(second)};
  }
  // Is it held back? What is not goes into the book, as the clerk does it.
  bool hear(std::int64_t second, const std::string& text, std::uint64_t offset = 1,
            const std::string& boot = "boot-1") {
    event::EventParser parser;
    std::vector<Event> events;
    parser.read({.text = text, .program = "kernel", .kernel = true}, events);
    Event& event = events.at(0);
    event.time = at(second);
    event.origin = {boot, "/dev/kmsg", offset};
    const auto signal = signal_of(event, story_.node(), at(second));
    const bool taken = held_.takes(event, *signal, story_.book(), now(second));
    if (!taken) story_.book().hear(*signal);
    return taken;
  }
  void pass(std::int64_t second) { held_.pass(story_.node(), now(second), story_.book()); }

  Story story_;
  HoldBack held_{"boot-1"};
};

TEST_F(Held, AFaultOfFirmwareIsToldAtTheEndWithItsOwnTime) {
  EXPECT_TRUE(hear(10, fmt::format(firmware, 1)));
  EXPECT_TRUE(hear(20, fmt::format(firmware, 1), 2)) << "once more";
  pass(599);
  EXPECT_EQ(story_.told(), "");
  EXPECT_THAT(held_.mark()->waiting, SizeIs(1));
  pass(600);
  EXPECT_FALSE(held_.mark());
  EXPECT_EQ(story_.told(), "open gpu-firmware gpu:GPU-0 critical reset_gpu x1");
  EXPECT_EQ(story_.book().all()[0].opened_at, at(10));
  EXPECT_THAT(story_.book().all()[0].evidence, SizeIs(2)) << "both lines are evidence";
}

TEST_F(Held, AGpuThatWentAwayAndCameBackEndsWhatWaitedAboutIt) {
  hear(10, fmt::format(firmware, 1));
  hear(10, fmt::format(firmware, 2), 2);
  pass(11);
  story_.node().gpus[0].answers = false;
  pass(20);
  story_.node().gpus[0].answers = true;
  pass(30);
  EXPECT_THAT(held_.mark()->waiting, ElementsAre(EventOrigin{"boot-1", "/dev/kmsg", 2}));
  held_.end(story_.book());
  EXPECT_EQ(story_.told(), "open gpu-firmware gpu:GPU-1 critical reset_gpu x1");
}

TEST_F(Held, AGpuThatDoesNotAnswerYetAfterARestartIsNotTakenForOneThatCameBack) {
  hear(10, fmt::format(firmware, 1));
  story_.node().gpus[0].answers = false;
  pass(11);
  story_.node().gpus[0].answers = true;
  pass(12);
  held_.end(story_.book());
  EXPECT_EQ(story_.told(), "open gpu-firmware gpu:GPU-0 critical reset_gpu x1");
}

TEST_F(Held, WhatTheDriverSaysToBeOverIsNotToldAtTheEnd) {
  hear(10, fmt::format(firmware, 1));
  held_.recovered({EntityKind::gpu, "GPU-0"}, story_.book());
  EXPECT_THAT(held_.mark()->waiting, IsEmpty());
  pass(700);
  EXPECT_EQ(story_.told(), "");
}

TEST_F(Held, AFaultOfTheCardAndWhatFollowsFromItAreTold) {
  EXPECT_FALSE(hear(10, "NVRM: Xid (PCI:0000:10:00): 79, GPU has fallen off the bus."));
  EXPECT_FALSE(hear(11, fmt::format(firmware, 1))) << "it follows from the 79";
  EXPECT_TRUE(hear(12, fmt::format(firmware, 2)));
  EXPECT_EQ(story_.told(), "open gpu-off-bus gpu:GPU-0 critical reboot x2");
}

TEST_F(Held, WhatIsOfAnEarlierBootIsEvidenceAlone) {
  EXPECT_TRUE(hear(10, fmt::format(firmware, 1), 1, "boot-0"));
  EXPECT_THAT(held_.mark()->waiting, IsEmpty());
  pass(700);
  EXPECT_EQ(story_.told(), "");
}

TEST_F(Held, AStormFindsRoomOrIsTold) {
  for (std::uint32_t n = 0; n < HoldBack::most_waiting + 1; ++n) {
    const auto text = fmt::format(
        "nvidia-nvswitch0: SXid (PCI:{:04x}:05:00.0): 20034, Fatal, Link 28 LTSSM Fault Up", n);
    EXPECT_EQ(hear(10, text, n), n < HoldBack::most_waiting) << n;
  }
  EXPECT_THAT(held_.mark()->waiting, SizeIs(HoldBack::most_waiting));
  EXPECT_THAT(story_.book().all(), SizeIs(1));
}

TEST_F(Held, AfterARestartWhatWaitedIsReadAgain) {
  hear(10, fmt::format(firmware, 1), 7);
  const auto kept = *held_.mark();
  HoldBack again("boot-1");
  again.restore(kept);
  Event event;
  event.origin = {"boot-1", "/dev/kmsg", 7};
  EXPECT_TRUE(again.expects(event));
  event.origin.offset = 8;
  EXPECT_FALSE(again.expects(event));
  HoldBack booted("boot-2", MonotonicTime{Seconds(5100)});
  booted.restore(kept);
  event.origin.offset = 7;
  EXPECT_FALSE(booted.expects(event)) << "the boot ended it";
  EXPECT_THAT(booted.mark()->waiting, IsEmpty());
}

TEST_F(Held, FindingsAreSuspicionsThatSayWhy) {
  std::vector<Finding> found = {finding_of("nvlink-fewer", 1),
                                finding_of("source-released", 1, Severity::info)};
  held_.hold(found, story_.book(), story_.node(), now(60));
  EXPECT_EQ(found[0].state, FindingState::suspect);
  EXPECT_THAT(found[0].evidence,
              ElementsAre(HasSubstr("planned maintenance until 2023-11-14T22:23:20.000Z, by root: "
                                    "new driver")));
  EXPECT_EQ(found[1].state, FindingState::firing) << "it alarms nobody";
  found[0].state = FindingState::firing;
  held_.hold(found, story_.book(), story_.node(), now(600));
  EXPECT_EQ(found[0].state, FindingState::firing) << "it is over";
}

TEST_F(Held, AFindingOfAnIncidentThatHoldsGoesOnAndOneThatIsProvingDoesNotBeginAnew) {
  story_.found(-60, {finding_of("nvlink-fewer", 1)});
  std::vector<Finding> found = {finding_of("nvlink-fewer", 1)};
  held_.hold(found, story_.book(), story_.node(), now(60));
  EXPECT_EQ(found[0].state, FindingState::firing);
  story_.found(70, {});
  held_.hold(found, story_.book(), story_.node(), now(80));
  EXPECT_EQ(found[0].state, FindingState::suspect);
}

TEST_F(Held, AnXidThatIsSeenCountsWhereItsLineWasTold) {
  hear(10, "NVRM: Xid (PCI:0000:10:00): 94, pid=7, name=train, Contained ECC error");
  std::vector<Finding> found = {finding_of("xid-seen", 0, Severity::warning),
                                finding_of("xid-seen", 1, Severity::warning)};
  held_.hold(found, story_.book(), story_.node(), now(60));
  EXPECT_EQ(found[0].state, FindingState::firing);
  EXPECT_EQ(found[1].state, FindingState::suspect);
}

}  // namespace
}  // namespace stoker::incident
