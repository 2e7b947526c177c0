#include "event/kernel_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/thread_safety.h"
#include "event/event_text_test_support.h"
#include "os/boot_id.h"
#include "os/journal_test_support.h"
#include "os/system_env.h"

namespace stoker::event {
namespace {

namespace fs = std::filesystem;

constexpr const char* off_bus =
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.";

// A kernel log that is a file below a root of its own, and what was told of it.
class FollowedLog : public ::testing::Test {
 protected:
  FollowedLog() {
    std::string name = (fs::temp_directory_path() / "stoker-kernel-log-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    fs::create_directories(root_ / "dev");
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] fs::path file() const { return root_ / "dev/kmsg"; }
  // `priority`: 4 is the kernel's; 12 a program's.
  void write(std::uint64_t sequence, std::uint64_t microseconds, const std::string& text,
             int priority = 4, std::ios::openmode mode = std::ios::app) const {
    std::ofstream(file(), mode) << priority << ',' << sequence << ',' << microseconds << ",-;"
                                << text << '\n';
  }

  std::unique_ptr<KernelLog> follow() {
    auto log =
        std::make_unique<KernelLog>(KernelLogParts{.env = os::make_system_env("/", root_.string()),
                                                   .tell =
                                                       [this](std::vector<Event> events) {
                                                         const MutexLock lock(mutex_);
                                                         for (auto& event : events)
                                                           events_.push_back(std::move(event));
                                                       },
                                                   .tell_source =
                                                       [this](const EventSource& source) {
                                                         const MutexLock lock(mutex_);
                                                         source_ = source;
                                                       }});
    log->start();
    return log;
  }
  std::vector<Event> events() {
    const MutexLock lock(mutex_);
    return events_;
  }
  EventSource source() {
    const MutexLock lock(mutex_);
    return source_;
  }
  // What the kernel says after `up` seconds of this boot, in the journal. What is wrong; empty: nothing.
  [[nodiscard]] std::string write_journal(std::int64_t up, const std::string& text) const {
    auto boot = os::boot_id(*os::make_system_env("/", "/"));
    std::erase(boot, '-');
    return os::JournalText().kernel(up, up, boot, text).write(root_ / "var/log/journal");
  }

  template <typename Done>
  [[nodiscard]] static bool wait_for(Done done) {
    const auto until = system_clock().monotonic() + Seconds(30);
    while (!done()) {
      if (system_clock().monotonic() > until) return false;
      std::this_thread::sleep_for(Milliseconds(2));
    }
    return true;
  }

  fs::path root_;
  Mutex mutex_;
  std::vector<Event> events_ GUARDED_BY(mutex_);
  EventSource source_ GUARDED_BY(mutex_);
};

TEST_F(FollowedLog, TellsWhatIsThereAndWhatComes) {
  write(1, 1'000'000, "Linux version 6.1");
  write(2, 2'000'000, off_bus);
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return events().size() == 1; }));
  write(3, 3'000'000,
        "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node "
        "Reboot Required)");
  ASSERT_TRUE(wait_for([&] { return events().size() == 2; }));
  EXPECT_EQ(in_words(events()[0]), "xid 79 0000:3b:00.0 pid=1234");
  EXPECT_EQ(events()[1].code, 154U);
  EXPECT_EQ(events()[1].origin.source, "/dev/kmsg");
  EXPECT_EQ(events()[1].origin.offset, 3U);
  EXPECT_NE(events()[1].origin.boot, "");
}

TEST_F(FollowedLog, AnEventHasTheTimeOfItsOrigin) {
  const auto second_ago = system_clock().monotonic().since_boot - Seconds(1);
  write(1, static_cast<std::uint64_t>(second_ago.count() / 1000), off_bus);
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return !events().empty(); }));
  const auto age = system_clock().wall().since_epoch - events()[0].time->since_epoch;
  EXPECT_GE(age, Milliseconds(990));
  EXPECT_LT(age, Seconds(40));
}

TEST_F(FollowedLog, WhatAProgramWroteIntoTheLogSaysSo) {
  write(1, 1, off_bus, 12);
  write(2, 2, off_bus);
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return events().size() == 2; }));
  EXPECT_EQ(detail(events()[0], "writer"), "program");
  EXPECT_EQ(detail(events()[1], "writer"), "");
}

TEST_F(FollowedLog, AReplacedFileIsReadFromItsBeginningAndNothingIsToldTwice) {
  write(5, 5'000, off_bus);
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return events().size() == 1; }));
  write(5, 5'000, off_bus, 4, std::ios::trunc);  // shorter never: the same, then one more
  write(0, 6'000, off_bus);
  ASSERT_TRUE(wait_for([&] { return events().size() == 2; }));
  EXPECT_EQ(events()[1].origin.offset, 0U);
}

TEST_F(FollowedLog, AnUnreadableLogIsSaid) {
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return !source().problem.empty(); }));
  EXPECT_FALSE(source().followed);
  EXPECT_NE(source().problem.find("kmsg"), std::string::npos) << source().problem;
}

TEST_F(FollowedLog, WhereTheKernelsLogCanNotBeReadTheJournalIs) {
  ASSERT_EQ(write_journal(10, off_bus), "");
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return events().size() == 1; }));
  EXPECT_EQ(in_words(events()[0]), "xid 79 0000:3b:00.0 pid=1234");
  EXPECT_EQ(events()[0].origin.source, "/var/log/journal");
  ASSERT_EQ(write_journal(20, "NVRM: Xid (PCI:0000:3b:00): 48, pid=20, name=x, DBE"), "");
  ASSERT_TRUE(wait_for([&] { return events().size() == 2; }));
  EXPECT_EQ(events()[1].code, 48U);
  EXPECT_GT(events()[1].origin.offset, events()[0].origin.offset);
  ASSERT_TRUE(wait_for([&] { return source().records == 2; }));
  EXPECT_TRUE(source().followed);
  EXPECT_EQ(source().problem, "");
}

TEST_F(FollowedLog, AJournalThatHasNothingOfThisBootIsSaidBesideTheKernelsLog) {
  fs::create_directories(root_ / "var/log/journal/0123456789abcdef0123456789abcdef");
  std::ofstream(root_ / "var/log/journal/0123456789abcdef0123456789abcdef/system.journal") << "no";
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return !source().problem.empty(); }));
  EXPECT_FALSE(source().followed);
  EXPECT_NE(source().problem.find("dev/kmsg"), std::string::npos) << source().problem;
  EXPECT_NE(source().problem.find("nor /var/log/journal"), std::string::npos) << source().problem;
}

// A log of a machine whose journal and whose /dev/kmsg nobody may read.
class FollowedSyslog : public FollowedLog {
 protected:
  FollowedSyslog() { fs::create_directories(root_ / "var/log"); }
  [[nodiscard]] fs::path syslog() const { return root_ / "var/log/kern.log"; }
  void say(const std::string& line) const {
    std::ofstream(syslog(), std::ios::app) << line << '\n';
  }
  // As rsyslog writes by default on Debian and Ubuntu before 24.04: no year, no zone.
  void say_as_kernel(const std::string& stamp, const std::string& text) const {
    say("Nov 29 01:02:03 gpu-17 kernel: " + stamp + text);
  }
  static std::string xid(int code) {
    return fmt::format("NVRM: Xid (PCI:0000:3b:00): {}, pid=1234, name=x, text", code);
  }
  // "79 48": the Xids that were told.
  std::string codes() {
    std::string out;
    for (const auto& event : events())
      out += (out.empty() ? "" : " ") + std::to_string(*event.code);
    return out;
  }
};

TEST_F(FollowedSyslog, IsReadFromTheBeginningOfThisBootWhereNothingElseCanBe) {
  say_as_kernel("[    0.000000] ", "Linux version 6.1.0-old");
  say_as_kernel("[    0.500000] ", xid(48));
  say_as_kernel("[    0.000000] ", "Linux version 6.1.0-now");
  say("Nov 29 01:02:03 gpu-17 sshd[77]: " + xid(62));
  say_as_kernel("[    1.500000] ", xid(79));
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return codes() == "79"; }));
  EXPECT_EQ(events()[0].origin.source, "/var/log/kern.log");
  const auto up = system_clock().monotonic().since_boot;
  const auto age = system_clock().wall().since_epoch - events()[0].time->since_epoch;
  EXPECT_NEAR(static_cast<double>((up - age).count()), 1.5e9, 1e9);
  say_as_kernel("[    2.000000] ", xid(31));
  ASSERT_TRUE(wait_for([&] { return codes() == "79 31"; }));
  EXPECT_GT(events()[1].origin.offset, events()[0].origin.offset);
  EXPECT_TRUE(source().followed);
}

TEST_F(FollowedSyslog, ALineFromBeforeTheAgentWithoutAKnownTimeIsNotTold) {
  say_as_kernel("", "Linux version 6.1.0-now");
  say_as_kernel("", xid(48));  // no year, no zone, no stamp: this boot's or not, and when?
  say(format_utc(system_clock().wall()) + " gpu-17 kernel: " + xid(79));
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return codes() == "79"; }));
  say_as_kernel("", xid(31));
  ASSERT_TRUE(wait_for([&] { return codes() == "79 31"; }));
  const auto age = system_clock().wall().since_epoch - events()[1].time->since_epoch;
  EXPECT_LT(age, Seconds(40));
}

TEST_F(FollowedSyslog, AFileThatWasRotatedGoesOnWithOriginsOfItsOwn) {
  say_as_kernel("[    0.000000] ", "Linux version 6.1.0-now");
  say_as_kernel("[    1.000000] ", xid(79));
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return codes() == "79"; }));
  fs::rename(syslog(), root_ / "var/log/kern.log.1");
  say_as_kernel("[    2.000000] ", "usb 1-1: new device number 0123456");
  say_as_kernel("[    3.000000] ", xid(31));
  ASSERT_TRUE(wait_for([&] { return codes() == "79 31"; }));
  // Cut short and written again, as logrotate's copytruncate does.
  std::ofstream(syslog(), std::ios::trunc) << "Nov 29 01:02:04 gpu-17 kernel: [    4.0] x\n";
  say_as_kernel("[    5.000000] ", xid(48));
  ASSERT_TRUE(wait_for([&] { return codes() == "79 31 48"; }));
  EXPECT_NE(events()[0].origin, events()[1].origin);
  EXPECT_NE(events()[1].origin, events()[2].origin);
}

TEST_F(FollowedSyslog, AFileWithoutALineOfTheKernelIsNotTheKernelsLog) {
  say("Nov 29 01:02:03 gpu-17 sshd[77]: " + xid(62));
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return !source().problem.empty(); }));
  EXPECT_NE(source().problem.find("has no line of the kernel"), std::string::npos)
      << source().problem;
}

TEST_F(FollowedSyslog, WithoutTheBootsBeginningAStampAloneProvesNothing) {
  say_as_kernel("[    1.000000] ", xid(48));
  say(format_utc(system_clock().wall()) + " gpu-17 kernel: [    1.500000] " + xid(79));
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return codes() == "79"; }));
}

TEST_F(FollowedSyslog, AFileThatNobodyWroteSinceTheBootIsNotTakenForAQuietOne) {
  say_as_kernel("[    0.000000] ", "Linux version 6.1.0-old");
  const auto up = system_clock().monotonic().since_boot;
  fs::last_write_time(syslog(), fs::file_time_type::clock::now() - up - std::chrono::hours(1));
  const auto log = follow();
  ASSERT_TRUE(wait_for([&] { return !source().problem.empty(); }));
  EXPECT_FALSE(source().followed);
  EXPECT_NE(source().problem.find("kern.log has nothing of this boot"), std::string::npos)
      << source().problem;
}

}  // namespace
}  // namespace stoker::event
