// What the boot before this one said last: one incident a card, to look at and to do nothing about; told once.
#include "incident/earlier_boot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "event/event_parser.h"
#include "incident/clerk.h"
#include "incident/story_test_support.h"

namespace stoker::incident {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* fell_off_before =
    "NVRM: Xid (PCI:0000:10:00): 79, GPU has fallen off the bus.";
constexpr const char* double_bit_before =
    "NVRM: Xid (PCI:0000:20:00): 48, pid=7, name=train, An uncorrectable double bit error (DBE) "
    "has "
    "been detected on GPU";

PreviousBoot some_boot(const std::vector<std::string>& lines, BootEnd end = BootEnd::unclean) {
  PreviousBoot boot{.known = true,
                    .boot = "boot-0",
                    .ended = at(-600),
                    .end = end,
                    .why = "its journal breaks off without a shutdown",
                    .source = "/var/log/journal",
                    .records = lines.size(),
                    .notes = {},
                    .events = {}};
  event::EventParser parser;
  for (const auto& line : lines) {
    const std::size_t first = boot.events.size();
    parser.read({.text = line, .program = "kernel", .kernel = true}, boot.events);
    for (std::size_t n = first; n < boot.events.size(); ++n) {
      boot.events[n].time = at(-700 + static_cast<std::int64_t>(n));
      boot.events[n].origin = {"boot-0", "/var/log/journal", n};
    }
  }
  return boot;
}

store::Snapshot node_with_gpus() {
  store::Snapshot snapshot;
  snapshot.hostname = "node-1";
  snapshot.source.state = device::SourceState::running;
  for (std::uint32_t n = 0; n < 3; ++n) {
    auto& gpu = snapshot.gpus.emplace_back();
    gpu.info.index = n;
    gpu.info.pci = {0, static_cast<std::uint8_t>(0x10 * (n + 1)), 0, 0};
    gpu.info.uuid = fmt::format("GPU-{}", n);
    gpu.readings.set(FieldId::power, Reading::of(100.0, MonotonicTime{Seconds(1)}));
  }
  return snapshot;
}

class EarlierBoot : public ::testing::Test {
 protected:
  // The agent's start in boot-1, and its first look.
  void start(const PreviousBoot& boot, std::int64_t second = 0) {
    auto incidents = clerk_ ? clerk_->book().all() : std::vector<Incident>();
    auto marks = clerk_ ? clerk_->take_marks() : marks_;
    clerk_.emplace("boot-1", at(second));
    clerk_->restore(std::move(incidents), marks);
    clerk_->follow("/dev/kmsg");
    clerk_->hear(boot);
    look(second);
  }
  void look(std::int64_t second) {
    clerk_->look(node_with_gpus(), {MonotonicTime{Seconds(1000 + second)}, at(second)});
  }
  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> words;
    for (const auto& one : clerk_->book().all()) {
      words.push_back(fmt::format("{} {} {} {} {}", to_string(one.state), one.cause, one.entity.id,
                                  to_string(one.severity), to_string(one.action)));
    }
    return words;
  }

  std::vector<ReadMark> marks_ = {{.source = "/dev/kmsg", .boot = "boot-0"}};
  std::optional<Clerk> clerk_;
};

TEST_F(EarlierBoot, OfAnUncleanEndEachCardHasOneIncidentThatAsksForADiagnosisAndNothingElse) {
  start(some_boot(
      {double_bit_before, fell_off_before, "NVRM: GPU 0000:10:00.0: GPU has fallen off the bus."}));
  EXPECT_THAT(told(), ElementsAre("open before-unclean-reboot GPU-0 warning observe",
                                  "open before-unclean-reboot GPU-1 warning observe"));
  const auto one = clerk_->book().all()[0];
  EXPECT_THAT(one.message, HasSubstr("Before the node went down uncleanly at 2023-11-14T22:03:20"));
  EXPECT_THAT(one.message, HasSubstr("Xid 79, GPU has fallen off the bus"));
  EXPECT_THAT(one.fix, HasSubstr("Run the diagnosis"));
  ASSERT_THAT(one.evidence, SizeIs(3));
  EXPECT_EQ(one.evidence[1].at, at(-699));
  EXPECT_EQ(one.opened_at, at(0));
}

TEST_F(EarlierBoot, IsNotToldTwiceOverRestarts) {
  const auto boot = some_boot({fell_off_before});
  start(boot);
  start(boot, 60);
  ASSERT_TRUE(clerk_->book().request(1, {.to = IncidentState::resolved}, at(70)));
  start(boot, 120);
  EXPECT_THAT(told(), ElementsAre("resolved before-unclean-reboot GPU-0 warning observe"));
  EXPECT_EQ(clerk_->book().all()[0].occurrences, 1U);
}

TEST_F(EarlierBoot, OfACleanEndOrOneThatCanNotBeToldNothingOpens) {
  start(some_boot({fell_off_before}, BootEnd::clean));
  EXPECT_THAT(told(), IsEmpty());
  marks_ = {{.source = "/dev/kmsg", .boot = "boot-0"}};
  clerk_.reset();
  start(some_boot({fell_off_before}, BootEnd::unknown));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(EarlierBoot, WhatProgramsPortsAndTheHostDidIsNotOfACard) {
  start(some_boot(
      {"NVRM: Xid (PCI:0000:10:00): 13, pid=7, name=train, Graphics Exception: ChID 000c",
       "NVRM: Xid (PCI:0000:10:00): 31, pid=7, name=train, MMU Fault",
       "pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:00:01.0",
       "Out of memory: Killed process 7 (train) total-vm:1kB, anon-rss:1kB, file-rss:0kB"}));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(EarlierBoot, ALineThatSomebodyWroteToTryTheirAlertsOpensNothing) {
  auto boot = some_boot({fell_off_before});
  boot.events[0].details.push_back({"writer", "program"});
  start(boot);
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(EarlierBoot, WhereTheAgentSawItAliveTheIncidentGetsWhatItDidNotSee) {
  clerk_.emplace("boot-0", at(-5000));
  clerk_->look(node_with_gpus(), {MonotonicTime{Seconds(5000)}, at(-5000)});
  auto seen = some_boot({fell_off_before}).events;
  seen[0].origin = {"boot-0", "/dev/kmsg", 7};
  clerk_->hear(seen, {MonotonicTime{Seconds(9300)}, at(-700)});
  start(
      some_boot({fell_off_before,
                 "NVRM: Xid (PCI:0000:10:00): 154, GPU recovery action changed from 0x0 (None) to "
                 "0x2 (Node Reboot Required)"}));
  ASSERT_THAT(clerk_->book().all(), SizeIs(1));
  const auto one = clerk_->book().all()[0];
  EXPECT_EQ(one.cause, "gpu-off-bus");
  EXPECT_EQ(one.state, IncidentState::proving) << "the boot ended it as ever";
  EXPECT_EQ(one.occurrences, 1U);
  ASSERT_THAT(one.evidence, SizeIs(2)) << "the Xid 79 was known";
  EXPECT_THAT(one.evidence[1].text,
              HasSubstr("of the boot before: NVRM: Xid (PCI:0000:10:00): 154"));
  EXPECT_THAT(one.timeline, Contains(Field(&TimelineEntry::what,
                                           HasSubstr("of its last lines 1 were not known"))));
}

TEST_F(EarlierBoot, WhereTheNodeWasNeverWatchedAnOldEndIsEvidenceAlone) {
  marks_.clear();
  auto old = some_boot({fell_off_before});
  old.ended = at(-200'000);
  start(old);
  EXPECT_THAT(told(), IsEmpty());
  clerk_.reset();
  start(some_boot({fell_off_before}));
  EXPECT_THAT(told(), ElementsAre("open before-unclean-reboot GPU-0 warning observe"))
      << "it has just happened";
}

TEST_F(EarlierBoot, IsOverAfterAQuietDay) {
  start(some_boot({fell_off_before}));
  look(86'000);
  EXPECT_THAT(told(), ElementsAre(HasSubstr("open")));
  look(86'401);
  EXPECT_THAT(told(), ElementsAre(HasSubstr("resolved")));
}

}  // namespace
}  // namespace stoker::incident
