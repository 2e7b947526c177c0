// The boot before this one, from journals that systemd's own program makes, and from pstore.
#include "event/previous_boot.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "event/boot_end.h"
#include "os/journal_test_support.h"
#include "os/system_env.h"

namespace stoker::event {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* before = "11111111111141118111111111111111";
constexpr const char* older = "33333333333343338333333333333333";
constexpr const char* now_running = "22222222222242228222222222222222";
constexpr const char* fell_off_before =
    "NVRM: Xid (PCI:0000:61:00): 79, GPU has fallen off the bus.";

class PreviousBootOf : public ::testing::Test {
 protected:
  PreviousBootOf() {
    std::string name = (fs::temp_directory_path() / "stoker-boot-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    env_ = os::make_system_env(root_.string(), root_.string());
    put("proc/sys/kernel/random/boot_id", "22222222-2222-4222-8222-222222222222\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void put_at(const std::string& path, const std::string& text, std::int64_t second) const {
    put(path, text);
    const auto at = std::chrono::file_clock::from_sys(
        std::chrono::sys_seconds(Seconds(os::JournalText::began + second)));
    fs::last_write_time(root_ / path, at);
  }
  // A boot that is older, one that had a fault after an hour, and the one that runs.
  static os::JournalText three_boots() {
    os::JournalText text;
    text.systemd(-100, 1, older, message_journal_start)
        .kernel(-90, 11, older, "NVRM: Xid (PCI:0000:62:00): 95, Uncontained ECC error");
    text.systemd(0, 1, before, message_journal_start)
        .kernel(5, 6, before, "NVRM: Xid (PCI:0000:61:00): 48, DBE")
        .kernel(3600, 3601, before, fell_off_before)
        .kernel(3601, 3602, before, "usb 1-1: new high-speed USB device number 2 using xhci_hcd")
        .systemd(3603, 3604, before, message_unit_started, "ssh.service");
    return text;
  }
  void write(os::JournalText text) const {
    text.systemd(4000, 1, now_running, message_journal_start)
        .kernel(4001, 2, now_running, "NVRM: Xid (PCI:0000:63:00): 79, GPU has fallen off");
    why_not_ = text.write(root_ / "var/log/journal");
  }
  static WallTime second(std::int64_t second) { return {Seconds(os::JournalText::began + second)}; }

  fs::path root_;
  std::unique_ptr<os::Env> env_;
  mutable std::string why_not_;
};

TEST_F(PreviousBootOf, AnUncleanEndHasTheLastHalfHourOfTheKernelAndNothingElse) {
  write(three_boots());
  if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  const auto boot = read_previous_boot(*env_);
  EXPECT_TRUE(boot.known);
  EXPECT_EQ(boot.boot, "11111111-1111-4111-8111-111111111111");
  EXPECT_EQ(boot.end, BootEnd::unclean) << boot.why;
  EXPECT_EQ(boot.ended, second(3603));
  EXPECT_EQ(boot.source, "/var/log/journal");
  EXPECT_EQ(boot.records, 2U);
  ASSERT_THAT(boot.events, SizeIs(1));
  const auto& event = boot.events[0];
  EXPECT_EQ(event.code, 79U);
  EXPECT_EQ(event.text, fell_off_before);
  EXPECT_EQ(event.time, second(3598)) << "when the kernel said it";
  EXPECT_EQ(event.origin.boot, boot.boot);
  EXPECT_EQ(event.origin.source, "/var/log/journal");
  EXPECT_EQ(event.origin.offset, 5U) << "the record's number";
  EXPECT_EQ(detail(event, detail_previous_boot), "unclean");
  EXPECT_EQ(read_previous_boot(*env_).events[0].origin, event.origin);
}

TEST_F(PreviousBootOf, ACleanEndIsToldFromTheStopOfTheJournal) {
  write(three_boots().systemd(3604, 3605, before, message_journal_stop));
  if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  EXPECT_EQ(read_previous_boot(*env_).end, BootEnd::clean);
}

TEST_F(PreviousBootOf, ALineThatAProgramWroteIntoTheKernelsLogSaysSo) {
  write(three_boots().kernel_by_program(3604, 3605, before, fell_off_before));
  if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  const auto boot = read_previous_boot(*env_);
  ASSERT_THAT(boot.events, SizeIs(2));
  EXPECT_EQ(detail(boot.events[0], "writer"), "");
  EXPECT_EQ(detail(boot.events[1], "writer"), "program");
}

TEST_F(PreviousBootOf, AJournalOfThisBootAloneHasNone) {
  write({});
  if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  const auto boot = read_previous_boot(*env_);
  EXPECT_FALSE(boot.known);
  EXPECT_THAT(boot.notes, Contains(HasSubstr("/var/log/journal: the journal has no boot before")));
}

TEST_F(PreviousBootOf, AJournalThatIsBrokenIsSaidAndNoFault) {
  put("var/log/journal/0123456789abcdef0123456789abcdef/system.journal", std::string(4096, 'x'));
  const auto boot = read_previous_boot(*env_);
  EXPECT_FALSE(boot.known);
  EXPECT_THAT(boot.notes, Contains(HasSubstr("/var/log/journal")));
}

TEST_F(PreviousBootOf, WithoutJournalAndPstoreThatIsAPlainFact) {
  const auto boot = read_previous_boot(*env_);
  EXPECT_FALSE(boot.known);
  EXPECT_EQ(boot.end, BootEnd::unknown);
  EXPECT_THAT(boot.events, IsEmpty());
  EXPECT_THAT(boot.notes, ElementsAre("/var/log/journal: there is no journal",
                                      "/run/log/journal: there is no journal"));
}

TEST_F(PreviousBootOf, APanicOfTheSameEndAddsWhatTheJournalLost) {
  write(three_boots().systemd(3604, 3605, before, message_journal_stop));
  if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  put_at(
      "sys/fs/pstore/dmesg-efi-170000363001001",
      "Panic#1 Part1\n<4>[ 3599.000000] NVRM: Xid (PCI:0000:61:00): 79, GPU has fallen off the "
      "bus.\n<4>[ 3620.000000] NVRM: Xid (PCI:0000:61:00): 154, GPU recovery action changed from "
      "0x0 (None) to 0x2 (Node Reboot Required)\n<0>[ 3630.000000] Kernel panic - not syncing: "
      "Fatal exception\n",
      3630);
  put_at("sys/fs/pstore/dmesg-efi-169000000001001",
         "Panic#1 Part1\n<4>[  1.0] NVRM: Xid (PCI:0000:64:00): 79, GPU has fallen off the bus.\n",
         -100'000);
  const auto boot = read_previous_boot(*env_);
  EXPECT_EQ(boot.end, BootEnd::unclean);
  EXPECT_THAT(boot.why, HasSubstr("/sys/fs/pstore/dmesg-efi-170000363001001 (Panic)"));
  ASSERT_THAT(boot.events, SizeIs(2)) << "the Xid 79 once";
  EXPECT_EQ(boot.events[1].code, 154U);
  EXPECT_EQ(boot.events[1].time, second(3620));
  EXPECT_THAT(boot.notes, ElementsAre("1 dumps in pstore are of other boots"));
}

TEST_F(PreviousBootOf, APanicIsEnoughWhereNoJournalIsKept) {
  put("sys/fs/pstore/dmesg-ramoops-0",
      "Panic#1 Part1\n<4>[  100.500000] NVRM: Xid (PCI:0000:61:00): 79, GPU has fallen off the "
      "bus.\n<0>[  101.500000] Kernel panic - not syncing: Fatal exception\n");
  const auto boot = read_previous_boot(*env_);
  EXPECT_TRUE(boot.known);
  EXPECT_EQ(boot.end, BootEnd::unclean);
  EXPECT_EQ(boot.boot, "");
  ASSERT_THAT(boot.events, SizeIs(1));
  EXPECT_EQ(boot.ended->since_epoch - boot.events[0].time->since_epoch, Seconds(1));
  EXPECT_EQ(boot.events[0].origin.source, "/sys/fs/pstore/dmesg-ramoops-0");
}

TEST_F(PreviousBootOf, AnOopsAloneEndsNoBoot) {
  put("sys/fs/pstore/dmesg-ramoops-0", "Oops#1 Part1\n<4>[  100.500000] Oops: 0000 [#1] SMP\n");
  const auto boot = read_previous_boot(*env_);
  EXPECT_TRUE(boot.known);
  EXPECT_EQ(boot.end, BootEnd::unknown);
}

}  // namespace
}  // namespace stoker::event
