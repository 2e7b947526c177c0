#include "event/judgement.h"

#include <gtest/gtest.h>

#include "event/event_text_test_support.h"

namespace stoker::event {
namespace {

Judgement judge_line(const std::string& line, const char* driver = "") {
  EventParser parser;
  std::vector<Event> events;
  parser.read({.text = line, .program = "kernel", .kernel = true}, events);
  EXPECT_EQ(events.size(), 1U) << line;
  return events.empty() ? Judgement{} : judge(events[0], DriverVersion::parse(driver));
}

TEST(Judgement, OfAnXidIsTheCatalogues) {
  const auto judged = judge_line("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.");
  EXPECT_EQ(judged.level, FaultLevel::hardware);
  EXPECT_EQ(judged.action, Action::reboot);
  EXPECT_FALSE(judged.source.empty());
}

TEST(Judgement, LeavesTheLastWordToTheDriver) {
  const std::string start =
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to ";
  EXPECT_EQ(judge_line(start + "0x1 (GPU Reset Required)").action, Action::reset_gpu);
  EXPECT_EQ(judge_line(start + "0x3 (Drain P2P)").action, Action::drain_p2p);
  EXPECT_EQ(judge_line(start + "0x9 (Sing A Song)").action, Action::contact_vendor);
  EXPECT_NE(judge_line(start + "0x9 (Sing A Song)").meaning.find("Sing A Song"), std::string::npos);
  EXPECT_EQ(judge_line("NVRM: Xid (PCI:0000:3b:00): 154, other words").action,
            Action::contact_vendor);
}

TEST(Judgement, ReadsAReusedNumberByItsDriver) {
  const std::string line = "NVRM: Xid (PCI:0000:3b:00): 144, pid=1, x";
  EXPECT_EQ(judge_line(line).level, FaultLevel::link);
  EXPECT_EQ(judge_line(line, "550.90.07").action, Action::reboot)
      << "key rotation: restart the virtual machine";
  EXPECT_FALSE(judge_line(line, "555.42.06").level.has_value());
  EXPECT_EQ(judge_line(line, "535").level_reason, "unknown_code");
}

TEST(Judgement, DecodesTheWordsOfNvlink5) {
  const auto judged = judge_line(
      "NVRM: Xid (PCI:0009:01:00): 145, RLW_SRC_TRACK Fatal XC1 i0 Link 10 (0x04082907 0x00000001 "
      "0x0)");
  EXPECT_EQ(judged.action, Action::reset_gpu);
  EXPECT_NE(judged.meaning.find("RLW_SRC_TRACK"), std::string::npos);
}

TEST(Judgement, ReadsTheRegistersOfALink) {
  const std::string start =
      "NVRM: Xid (PCI:0000:4c:00): 74, NVLink: fatal error detected on link 14(";
  const auto again = judge_line(start + "0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)");
  EXPECT_EQ(again.action, Action::observe);
  EXPECT_NE(again.meaning.find("register 3, 0x10000: field diagnostic"), std::string::npos)
      << again.meaning;
  EXPECT_EQ(judge_line(start + "0x200010, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)").action,
            Action::inspect_cable);
  EXPECT_EQ(judge_line(start + "0x0, 0x0, 0x0, 0x40000, 0x0, 0x0, 0x0)").action,
            Action::reset_domain);
  EXPECT_EQ(judge_line(start + "0x0, 0x1, 0x0, 0x0, 0x0, 0x0, 0x0)").action,
            Action::contact_vendor);
  EXPECT_EQ(judge_line("NVRM: Xid (PCI:0000:4c:00): 74, NVLink: other words").action,
            Action::inspect_cable);
}

TEST(Judgement, OfWhatIsNotKnownIsNeverNothing) {
  const auto unknown = judge_line("NVRM: Xid (PCI:0000:3b:00): 999, x");
  EXPECT_FALSE(unknown.level.has_value());
  EXPECT_EQ(unknown.level_reason, "unknown_code");
  EXPECT_EQ(unknown.action, Action::contact_vendor);
  EXPECT_EQ(judge_line("NVRM: Xid (PCI:0000:3b:00): 7").level_reason, "cut");
  EXPECT_EQ(judge_line("NVRM: Xid (PCI:0000:3b:00): 7, x").level_reason, "not_documented");
}

TEST(Judgement, OfAnSxidTakesTheLinesWordWhereNvidiaHasNone) {
  const std::string start = "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): ";
  EXPECT_EQ(judge_line(start + "22003, Fatal, Link 1 x").action, Action::reboot);
  EXPECT_EQ(judge_line(start + "30006, Fatal, Link 1 x").action, Action::contact_vendor);
  EXPECT_EQ(judge_line(start + "30006, Non-fatal, Link 1 x").action, Action::observe);
  EXPECT_EQ(judge_line(start + "99999, Fatal, Link 1 x").level_reason, "unknown_code");
}

TEST(Judgement, CallsAFullCgroupTheApplicationsMatter) {
  const auto judged = judge_line("Memory cgroup out of memory: Killed process 3 (x) total-vm:1kB");
  EXPECT_EQ(judged.level, FaultLevel::application);
  EXPECT_EQ(judged.action, Action::fix_config);
}

}  // namespace
}  // namespace stoker::event
