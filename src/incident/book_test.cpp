// One cause, one incident: storms, chains, two faults at once, what follows, and when it is over.
#include "incident/book.h"

#include <gmock/gmock.h>

#include "incident/story_test_support.h"

namespace stoker::incident {
namespace {

using ::testing::HasSubstr;

constexpr const char* off_bus = "NVRM: Xid ({0}): 79, GPU has fallen off the bus.";

TEST(Book, AGpuThatFallsOffTheBusIsOneIncidentWithItsWholeStorm) {
  Story story;
  story.node().gpus[0].programs = {"pid 4711"};
  story.node().gpus[2].linked = {"0000:10:00.0"};
  story.line(0, off_bus)
      .line(0, "NVRM: GPU 0000:10:00.0: GPU has fallen off the bus.")
      .line(1,
            "NVRM: Xid ({0}): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot "
            "Required)")
      .line(2, "NVRM: Xid ({0}): 45, pid=4711, name=python3, Ch 00000008")
      .line(2, "NVRM: Xid ({1}): 45, pid=4711, name=python3, Ch 00000009")
      .line(3,
            "NVRM: Xid ({2}): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on "
            "link 4(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)")
      .found(5, {finding_of("gpu-lost", 0)});
  EXPECT_EQ(story.told(), "open gpu-off-bus gpu:GPU-0 critical reboot (driver) x7");
}

TEST(Book, ACardThatCanNotBeOpenedAfterARestartIsTheOneThatFellOffTheBus) {
  Story story;
  story.line(0, "NVRM: Xid ({0}): 79, GPU has fallen off the bus.");
  const auto pci = story.node().gpus[0].pci.sysfs();
  story.node().gpus.erase(story.node().gpus.begin());  // the driver lets nobody open it
  Finding unopened = finding_of("gpu-unopened", 0);
  unopened.entity = {EntityKind::gpu, pci};
  story.node().gpus.push_back({.pci = *PciAddress::parse(pci)});
  story.found(7200, {unopened});
  EXPECT_EQ(story.told(), "open gpu-off-bus gpu:GPU-0 critical reboot x2");
  // Reset: it is opened, and answers.
  story.node().gpus.back() = {*PciAddress::parse(pci), "GPU-0", "serial-0", 0, true};
  story.found(7300, {});
  EXPECT_EQ(story.told(), "proving gpu-off-bus gpu:GPU-0 critical reboot x2");
}

TEST(Book, AFaultOfACardThatWeMayNotOpenIsToldAsThatFault) {
  Story story;
  story.found(0, {finding_of("gpu-unopened", 0, Severity::error, Action::observe)});
  story.line(10, "NVRM: Xid ({0}): 48, pid=20, name=x, DBE (double bit error)");
  EXPECT_EQ(story.told(),
            "open gpu-unopened gpu:GPU-0 error observe x1; "
            "open memory-uncorrectable gpu:GPU-0 critical reset_gpu x1");
}

TEST(Book, AFaultLongAfterACardFellOffTheBusIsItsOwn) {
  Story story;
  story.line(0, "NVRM: Xid ({0}): 79, GPU has fallen off the bus.");
  story.line(86'400, "NVRM: Xid ({0}): 48, pid=20, name=x, DBE (double bit error)");
  EXPECT_EQ(story.told(),
            "open gpu-off-bus gpu:GPU-0 critical reboot x1; "
            "open memory-uncorrectable gpu:GPU-0 critical reset_gpu x1");
}

TEST(Book, WhatThePortAboveACardSaysIsAboutTheCard) {
  Story story;
  story.node().gpus[1].ports = {*PciAddress::parse("0000:1f:01.0")};
  story.line(0, "pcieport 0000:1f:01.0: AER: Uncorrected (Fatal) error received: 0000:1f:01.0");
  story.line(2, "NVRM: Xid ({1}): 79, GPU has fallen off the bus.");
  story.line(3, "pcieport 0000:2f:01.0: AER: Uncorrected (Fatal) error received: 0000:2f:01.0");
  EXPECT_EQ(story.told(),
            "open gpu-off-bus gpu:GPU-1 critical reboot x2; "
            "open pcie port:0000:2f:01.0 error inspect_cable x1");
}

TEST(Book, FollowersThatComeFirstAreTakenOver) {
  Story story;
  story.line(0,
             "NVRM: Xid ({0}): 119, pid=20, name=nvidia-smi, Timeout after 6s of waiting for RPC "
             "response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20808 0x4).");
  EXPECT_EQ(story.told(), "open gpu-firmware gpu:GPU-0 critical reset_gpu x1");
  story.line(40, off_bus);
  EXPECT_EQ(story.told(), "open gpu-off-bus gpu:GPU-0 critical reboot x2");
  EXPECT_EQ(story.book().all()[0].timeline.back().what,
            "the cause is gpu-off-bus, not gpu-firmware");
}

TEST(Book, TwoFaultsAtOnceAreTwoIncidents) {
  Story story;
  story.line(0, off_bus)
      .line(0,
            "NVRM: Xid ({3}): 48, pid=7, name=train, An uncorrectable double bit error (DBE) has "
            "been detected on GPU");
  EXPECT_EQ(story.told(),
            "open gpu-off-bus gpu:GPU-0 critical reboot x1; "
            "open memory-uncorrectable gpu:GPU-3 critical reset_gpu x1");
}

TEST(Book, AMemoryErrorTakesItsRemappingAndTheProgramsThatDieOfItWithIt) {
  Story story;
  story
      .line(0,
            "NVRM: Xid ({1}): 63, pid=7, name=train, Row Remapper: New row (0x0) marked for "
            "remapping, reset gpu to activate.")
      .line(0, "NVRM: Xid ({1}): 94, pid=7, name=train, Contained: SM (0x1). RST: No, D-RST: No")
      .line(1, "NVRM: Xid ({1}): 43, pid=7, name=train, Ch 00000008")
      .line(2,
            "NVRM: Xid ({1}): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and "
            "Reset)");
  EXPECT_EQ(story.told(), "open memory-contained gpu:GPU-1 error reset_gpu (driver) x4");
}

TEST(Book, AProgramThatCrashesAgainAndAgainIsOneIncidentWhateverItsPid) {
  Story story;
  for (int n = 0; n < 30; ++n) {
    story
        .line(n * 60, fmt::format("NVRM: Xid ({{2}}): 31, pid={}, name=python3, Ch 00000008, intr "
                                  "00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ "
                                  "0x7f_0. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
                                  100 + n))
        .pass(n * 60 + 1);
  }
  EXPECT_EQ(story.told(), "open application gpu:GPU-2 of python3 warning restart_job x30");
  EXPECT_THAT(story.book().all()[0].message, HasSubstr("python3, pid 129"));
}

TEST(Book, TwoProgramsThatFailOnOneGpuAreTwoIncidents) {
  Story story;
  story.line(0, "NVRM: Xid ({2}): 13, pid=1, name=one, Graphics Exception")
      .line(1, "NVRM: Xid ({2}): 13, pid=2, name=two, Graphics Exception")
      .line(2, "NVRM: Xid ({2}): 43, pid=2, name=two, Ch 00000008");
  EXPECT_EQ(story.told(),
            "open application gpu:GPU-2 of one warning restart_job x1; "
            "open application gpu:GPU-2 of two warning restart_job x2");
}

TEST(Book, AProgramsFaultLongAfterACardsIsItsOwn) {
  Story story;
  story.line(0, "NVRM: Xid ({1}): 95, pid=7, name=train, Uncontained: LTC TAG")
      .line(3600, "NVRM: Xid ({1}): 31, pid=9, name=other, Ch 00000008");
  EXPECT_EQ(story.told(),
            "open memory-uncorrectable gpu:GPU-1 critical reset_gpu x1; "
            "open application gpu:GPU-1 of other warning restart_job x1");
}

TEST(Book, TheOtherRanksOfTheJobThatAGpuTookDownAreInItsIncidentAndOtherJobsAreNot) {
  Story story;
  story.node().owners = {{1, "job 12"}, {2, "job 12"}, {3, "job 13"}};
  story.node().gpus[0].programs = {"job 12"};
  story.line(0, off_bus)
      .line(5, "NVRM: Xid ({1}): 45, pid=2, name=rank1, Ch 00000001")
      .line(5, "NVRM: Xid ({2}): 31, pid=3, name=other, Ch 00000001");
  EXPECT_EQ(story.told(),
            "open gpu-off-bus gpu:GPU-0 critical reboot x2; "
            "open application gpu:GPU-2 of other warning restart_job x1");
  EXPECT_THAT(story.book().all()[0].programs, ::testing::ElementsAre("job 12"));
}

TEST(Book, BothEndsOfALinkAndItsSwitchAreOneIncident) {
  Story story;
  story.node().gpus[2].programs = {"pid 8"};
  story.line(0, "nvidia-nvswitch3: SXid (PCI:0000:07:00.0): 20034, Fatal, Link 32 LTSSM Fault Up")
      .line(0,
            "NVRM: Xid ({2}): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on "
            "link 4(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)")
      .line(1, "NVRM: Xid ({3}): 45, pid=8, name=train, Ch 00000001");
  EXPECT_THAT(story.told(), HasSubstr("open nvswitch nvswitch:0000:07:00.0"));
  EXPECT_EQ(story.book().all().size(), 1U);
}

TEST(Book, AProgramsFaultIsOverWhenItIsQuietAndACardsIsNot) {
  Story story;
  story.line(0, "NVRM: Xid ({0}): 31, pid=9, name=job, Ch 00000008")
      .line(1, "NVRM: Xid ({1}): 95, pid=7, name=train, Uncontained: LTC TAG");
  story.found(599, {}).pass(599).found(600, {}).pass(86'400);
  EXPECT_EQ(story.told(),
            "resolved application gpu:GPU-0 of job warning restart_job x1; "
            "open memory-uncorrectable gpu:GPU-1 critical reset_gpu x1");
}

TEST(Book, ACardProvesItselfAfterItsResetAndIsThenOver) {
  Story story;
  story.line(0, "NVRM: Xid ({1}): 95, pid=7, name=train, Uncontained: LTC TAG")
      .line(0,
            "NVRM: Xid ({1}): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset "
            "Required)")
      .found(10, {finding_of("recovery-action", 1, Severity::error, Action::reset_gpu)})
      .found(700, {});
  EXPECT_THAT(story.told(), HasSubstr("proving memory-uncorrectable"));
  story.pass(700 + 3599 - 690);
  EXPECT_THAT(story.told(), HasSubstr("proving"));
  story.pass(700 + 3600);
  EXPECT_THAT(story.told(), HasSubstr("resolved memory-uncorrectable"));
}

TEST(Book, WhatIsSeenAgainWhileItProvesIsOpenAgainAndLaterIsNewAndCounted) {
  Story story;
  const auto fault = "NVRM: Xid ({1}): 95, pid=7, name=train, Uncontained: LTC TAG";
  const auto done =
      "NVRM: Xid ({1}): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 "
      "(None)";
  story.line(0, fault).line(60, done).line(90, fault);
  EXPECT_EQ(story.told(), "open memory-uncorrectable gpu:GPU-1 critical reset_gpu x2");
  story.line(120, done).pass(120 + 3600).line(9000, fault);
  ASSERT_EQ(story.book().all().size(), 2U);
  EXPECT_EQ(story.book().all()[1].recurrence, 1U);
  EXPECT_EQ(story.book().all()[1].state, IncidentState::open);
}

TEST(Book, AFindingAboutAGpuThatDoesNotAnswerIsNotOverWhenItIsNotFound) {
  Story story;
  story.found(0, {finding_of("gpu-lost", 0)});
  story.node().gpus[0].answers = false;
  story.found(10, {}).pass(1'000'000);
  EXPECT_EQ(story.told(), "open gpu-off-bus gpu:GPU-0 critical reboot x1");
  story.node().gpus[0].answers = true;
  story.found(1'000'001, {});
  EXPECT_EQ(story.told(), "proving gpu-off-bus gpu:GPU-0 critical reboot x1");
}

TEST(Book, ABootEndsWhatStandsWhereTheGpuIsThereAgain) {
  Story story;
  story.line(0, off_bus);
  story.node().boot = "boot-2";
  story.node().gpus[0].answers = false;
  story.found(300, {});
  EXPECT_EQ(story.told(), "open gpu-off-bus gpu:GPU-0 critical reboot x1");
  story.node().gpus[0].answers = true;
  story.found(301, {});
  EXPECT_EQ(story.told(), "proving gpu-off-bus gpu:GPU-0 critical reboot x1");
}

TEST(Book, WhatIsCountedOfAnErrorDoesNotTakeOverWhatItsLineSays) {
  Story story;
  story.line(0, "NVRM: Xid ({1}): 94, pid=7, name=train, Contained: SM (0x1). RST: No, D-RST: No")
      .found(1, {finding_of("ecc-uncorrected", 1, Severity::error, Action::reset_gpu)});
  EXPECT_EQ(story.told(), "open memory-contained gpu:GPU-1 error restart_job x2");
}

TEST(Book, AFaultOfACardIsNeverHiddenInAnothersIncident) {
  Story story;
  for (auto& gpu : story.node().gpus) gpu.programs = {"job 12"};
  story.line(0, "NVRM: Xid ({0}): 31, pid=9, name=job, Ch 00000008");
  ASSERT_TRUE(
      story.book().request(1, {IncidentState::suppressed, "alice", "", Seconds(60)}, at(1)));
  story.line(2, "NVRM: Xid ({2}): 48, pid=7, name=train, An uncorrectable double bit error")
      .line(3, "NVRM: Xid (PCI:FFFF:43:00): 79, GPU has fallen off the bus.")
      .line(4,
            "NVRM: Xid ({3}): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected "
            "on link 4(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)");
  EXPECT_EQ(story.told(),
            "suppressed application gpu:GPU-0 of job warning restart_job x1; "
            "open memory-uncorrectable gpu:GPU-2 critical reset_gpu x1; "
            "open gpu-off-bus gpu:ffff:43:00.0 critical reboot x1; "
            "open nvlink gpu:GPU-3 warning observe x1");
}

TEST(Book, WhatGetsWorseThanPeopleKnewIsOpenAgain) {
  for (const auto state : {IncidentState::acknowledged, IncidentState::suppressed}) {
    Story story;
    story.line(0, "NVRM: Xid ({0}): 31, pid=9, name=job, Ch 00000008");
    ASSERT_TRUE(story.book().request(1, {state, "alice", "", {}}, at(1)));
    story.line(2, "NVRM: Xid ({0}): 31, pid=10, name=job, Ch 00000008");
    EXPECT_EQ(story.book().all()[0].state, state);
    story.line(3, "NVRM: Xid ({0}): 48, pid=10, name=job, An uncorrectable double bit error");
    EXPECT_EQ(story.told(), "open memory-uncorrectable gpu:GPU-0 critical reset_gpu x3");
  }
}

TEST(Book, AHotCardIsOneIncidentWhateverSaysSo) {
  Story story;
  story.found(0, {finding_of("temperature-operating", 1, Severity::warning, Action::observe),
                  finding_of("throttle-hw-thermal", 1, Severity::warning, Action::observe),
                  finding_of("lost-to-heat", 1, Severity::warning, Action::observe)});
  EXPECT_EQ(story.told(), "open gpu-temperature gpu:GPU-1 warning observe x3");
}

TEST(Book, WhatPeopleHaveToDoAfterTheDriversWordIsSaid) {
  Story story;
  auto failed = finding_of("row-remap-failed", 1, Severity::error, Action::field_diag);
  failed.fix = "run the field diagnostic";
  auto asked = finding_of("recovery-action", 1, Severity::error, Action::reset_gpu);
  asked.fix = "reset it";
  story.found(0, {failed, asked});
  EXPECT_EQ(story.told(), "open memory-repair-failed gpu:GPU-1 error reset_gpu (driver) x2");
  EXPECT_EQ(story.book().all()[0].fix, "reset it. After that: run the field diagnostic");
}

TEST(Book, ChecksThatHaveNothingToDoWithOneAnotherAreApart) {
  Story story;
  story.found(0, {finding_of("temperature-high", 0, Severity::warning, Action::observe)});
  story.line(5, "NVRM: Xid ({0}): 48, pid=7, name=train, An uncorrectable double bit error");
  EXPECT_EQ(story.told(),
            "open temperature-high gpu:GPU-0 warning observe x1; "
            "open memory-uncorrectable gpu:GPU-0 critical reset_gpu x1");
}

TEST(Book, PeopleMayAcknowledgeSuppressAndResolveButNotWhatStillHolds) {
  Story story;
  story.found(0, {finding_of("gpu-hung", 0)});
  auto& book = story.book();
  ASSERT_TRUE(book.request(1, {IncidentState::acknowledged, "alice", "looking", {}}, at(1)));
  EXPECT_EQ(book.all()[0].timeline.back().what, "acknowledged: looking");
  const auto refused = book.request(1, {IncidentState::resolved, "alice", "", {}}, at(2));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("still holds: GPU 0: gpu-hung"));
  ASSERT_TRUE(book.request(1, {IncidentState::suppressed, "alice", "", Seconds(60)}, at(3)));
  story.pass(62);
  EXPECT_EQ(book.all()[0].state, IncidentState::suppressed);
  story.pass(63);
  EXPECT_EQ(book.all()[0].state, IncidentState::open);
  EXPECT_FALSE(book.request(7, {IncidentState::acknowledged, "alice", "", {}}, at(4)));
}

TEST(Book, OldLinesOpenNothingAndAreEvidenceForWhatIsFoundLater) {
  Story story;
  Signal old;
  old.entity = {EntityKind::gpu, "GPU-0"};
  old.at = at(-9000);
  old.evidence = "NVRM: Xid (PCI:0000:10:00): 79, GPU has fallen off the bus.";
  story.book().recall(old);
  EXPECT_EQ(story.told(), "");
  story.found(0, {finding_of("gpu-lost", 0)});
  ASSERT_EQ(story.book().all().size(), 1U);
  EXPECT_EQ(story.book().all()[0].evidence[0], (Evidence{at(-9000), old.evidence}));
}

TEST(Book, AStormLeavesTheFirstAndTheLastLinesAndCountsTheRest) {
  Story story;
  for (int n = 0; n < 5000; ++n) {
    story.line(
        n / 100,
        fmt::format(
            "NVRM: Xid ({{0}}): 119, pid=20, name=nvidia-smi, Timeout after 6s, sequence {}", n));
  }
  const auto all = story.book().all();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].occurrences, 5000U);
  EXPECT_EQ(all[0].evidence.size(), 64U);
  EXPECT_EQ(all[0].evidence_left_out, 5000U - 64U);
  EXPECT_THAT(all[0].evidence[0].text, HasSubstr("sequence 0"));
  EXPECT_THAT(all[0].evidence.back().text, HasSubstr("sequence 4999"));
}

TEST(Book, EachChangeIsTakenOnceAndHasANewRevisionWherePeopleAreToldMore) {
  Story story;
  story.line(0, off_bus).line(0, off_bus);
  auto taken = story.book().take_changed(at(1));
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].revision, 1U);
  EXPECT_TRUE(story.book().take_changed(at(2)).empty());
  story.line(3, off_bus);
  const auto more = story.book().take_changed(at(3)).at(0);
  EXPECT_EQ(more.revision, 1U);
  EXPECT_EQ(more.occurrences, 3U);
  EXPECT_EQ(more.told.occurrences, 2U);
  ASSERT_TRUE(story.book().request(1, {IncidentState::acknowledged, "alice", "", {}}, at(4)));
  EXPECT_EQ(story.book().take_changed(at(4)).at(0).revision, 2U);
}

}  // namespace
}  // namespace stoker::incident
