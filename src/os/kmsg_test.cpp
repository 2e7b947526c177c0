#include "os/kmsg.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <thread>

#include "os/kmsg_sources.h"
#include "os/system_env.h"

namespace stoker::os {
namespace {

namespace fs = std::filesystem;

TEST(KmsgRecordText, ALineOfTheDriverIsTakenApart) {
  const auto record = parse_kmsg_record(
      "4,1234,5678901,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->priority, 4);
  EXPECT_EQ(record->facility, 0U);
  EXPECT_EQ(record->sequence, 1234U);
  EXPECT_EQ(record->microseconds, 5678901U);
  EXPECT_EQ(record->text, "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.");
}

TEST(KmsgRecordText, ALineWrittenByAProgramHasFacilityOne) {
  const auto record = parse_kmsg_record("12,345,647163473,-;hello");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->facility, 1U);
  EXPECT_EQ(record->priority, 4);
}

TEST(KmsgRecordText, FurtherFlagsAndDictionaryLinesAreLeftOut) {
  const auto record = parse_kmsg_record(
      "6,339,5140900,c,caller=T1;NET: Registered\\x0a twice; yes\n SUBSYSTEM=net\n "
      "DEVICE=+pci:1\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text, "NET: Registered\n twice; yes");
}

TEST(KmsgRecordText, WhatIsNoRecordIsAnErrorThatShowsIt) {
  for (const char* bad : {"", ";", "4,1,2", "4,1,2,-", "x,1,2,-;t", "4,,2,-;t", "-4,1,2,-;t",
                          "4,1,99999999999999999999999,-;t", "4,1,2,-\n;t", " SUBSYSTEM=net"}) {
    const auto record = parse_kmsg_record(bad);
    ASSERT_FALSE(record) << bad;
    EXPECT_EQ(record.error().code(), ErrorCode::corrupt);
  }
}

RC_GTEST_PROP(KmsgRecordProperty, AnyRecordReadsBackTheSame,
              (std::uint8_t priority, std::uint64_t sequence, std::uint64_t at,
               const std::string& text)) {
  const KmsgRecord record{.priority = static_cast<std::uint8_t>(priority & 7U),
                          .facility = *rc::gen::inRange<std::uint32_t>(0, 24),
                          .sequence = sequence,
                          .microseconds = at,
                          .text = text};
  const std::string line = format_kmsg_record(record);
  RC_ASSERT(line.find('\n') == line.size() - 1);
  RC_ASSERT(parse_kmsg_record(line) == record);
}

RC_GTEST_PROP(KmsgRecordProperty, NoTextBreaksTheParser, (const std::string& text)) {
  const auto record = parse_kmsg_record(text);
  RC_ASSERT(!record || record->text.size() <= text.size());
}

class KmsgFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stoker-kmsg-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directories(folder_ / "dev");
    env_ = make_system_env("/", folder_.string());
    append(1);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void append_text(std::string_view text) {
    std::ofstream(folder_ / "dev/kmsg", std::ios::app) << text;
  }
  void append(std::uint64_t sequence) {
    append_text(format_kmsg_record({.sequence = sequence, .text = "line"}));
  }
  std::vector<std::uint64_t> read(KmsgFollower& follower, std::size_t max = 1000) {
    std::vector<KmsgRecord> records;
    const auto count = follower.read(records, max);
    EXPECT_TRUE(count);
    EXPECT_EQ(*count, records.size());
    std::vector<std::uint64_t> sequences;
    for (const KmsgRecord& record : records) sequences.push_back(record.sequence);
    return sequences;
  }
  using Sequences = std::vector<std::uint64_t>;

  fs::path folder_;
  std::unique_ptr<Env> env_;
};

TEST_F(KmsgFile, IsReadFromItsBeginningAndThenAsItGrows) {
  const auto follower = follow_kmsg(*env_, KmsgStart::oldest);
  ASSERT_TRUE(follower);
  EXPECT_EQ(read(**follower), Sequences{1});
  EXPECT_EQ(read(**follower), Sequences{});
  append(2);
  append(3);
  EXPECT_EQ(read(**follower), (Sequences{2, 3}));
}

TEST_F(KmsgFile, FromTheEndOnlyWhatComesAfterIsRead) {
  const auto follower = follow_kmsg(*env_, KmsgStart::end);
  EXPECT_EQ(read(**follower), Sequences{});
  append(2);
  EXPECT_EQ(read(**follower), Sequences{2});
}

TEST_F(KmsgFile, AHalfWrittenLineWaitsForItsOtherHalf) {
  const auto follower = follow_kmsg(*env_, KmsgStart::end);
  append_text("4,7,1,-;ha");
  EXPECT_EQ(read(**follower), Sequences{});
  append_text("lf\n");
  EXPECT_EQ(read(**follower), Sequences{7});
}

TEST_F(KmsgFile, NoMoreThanAskedForIsReadAtOnce) {
  for (std::uint64_t n = 2; n <= 10; ++n) append(n);
  const auto follower = follow_kmsg(*env_, KmsgStart::oldest);
  EXPECT_EQ(read(**follower, 4), (Sequences{1, 2, 3, 4}));
  EXPECT_EQ(read(**follower, 100).size(), 6U);
}

TEST_F(KmsgFile, BadLinesAreCountedAndDictionaryLinesAreNot) {
  const auto follower = follow_kmsg(*env_, KmsgStart::end);
  append_text("garbage\n SUBSYSTEM=pci\n\n");
  append_text(std::string(40'000, 'x'));
  append(2);
  append(3);
  EXPECT_EQ(read(**follower), Sequences{3}) << "2 stands on the overlong line";
  EXPECT_EQ((*follower)->malformed(), 2U);
}

TEST_F(KmsgFile, AFileThatWasReplacedOrCutShortIsReadFromItsBeginning) {
  const auto follower = follow_kmsg(*env_, KmsgStart::oldest);
  EXPECT_EQ(read(**follower), Sequences{1});
  fs::rename(folder_ / "dev/kmsg", folder_ / "dev/kmsg.old");
  EXPECT_EQ(read(**follower), Sequences{});
  append(5);
  EXPECT_EQ(read(**follower), Sequences{5});
  fs::resize_file(folder_ / "dev/kmsg", 0);
  EXPECT_EQ(read(**follower), Sequences{});
  append(6);
  EXPECT_EQ(read(**follower), Sequences{6});
}

TEST_F(KmsgFile, WaitingEndsWhenALineComesAndWhenTheTimeIsOver) {
  const auto follower = follow_kmsg(*env_, KmsgStart::end);
  EXPECT_FALSE((*follower)->wait(Milliseconds(20), Waker()));
  const std::jthread writer([this] {
    std::this_thread::sleep_for(Milliseconds(30));
    append(2);
  });
  EXPECT_TRUE((*follower)->wait(Milliseconds(10'000), Waker()));
  EXPECT_EQ(read(**follower), Sequences{2});
}

TEST_F(KmsgFile, WaitingEndsWhenSomebodyWakesIt) {
  const auto follower = follow_kmsg(*env_, KmsgStart::end);
  const Waker waker;
  const std::jthread other([&waker] {
    std::this_thread::sleep_for(Milliseconds(30));
    waker.wake();
  });
  EXPECT_FALSE((*follower)->wait(Milliseconds(600'000), waker));
}

TEST_F(KmsgFile, AnotherDeviceInItsPlaceIsNotTakenForAQuietKernel) {
  const auto env = make_system_env("/", "/");
  const auto log = follow_kmsg(*env, KmsgStart::oldest, "/dev/null");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code(), ErrorCode::not_supported);
}

TEST_F(KmsgFile, AMissingLogIsNotFound) {
  const auto follower = follow_kmsg(*env_, KmsgStart::end, "/dev/kmsg.none");
  ASSERT_FALSE(follower);
}

// /dev/kmsg as the kernel gives it: one record a read(2), EPIPE where records were overwritten.
class Device {
 public:
  void has(std::string record) { answers_.emplace_back(0, std::move(record)); }
  void fails(int number) { answers_.emplace_back(number, ""); }

  std::unique_ptr<KmsgFollower> follow() {
    return follow_device(
        UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)), KmsgStart::end,
        [this](int, char* buffer, std::size_t size) { return answer(buffer, size); });
  }

 private:
  ssize_t answer(char* buffer, std::size_t size) {
    errno = EAGAIN;
    if (answers_.empty()) return -1;
    const auto [number, record] = std::move(answers_.front());
    answers_.pop_front();
    errno = number;
    return number != 0 ? -1 : static_cast<ssize_t>(record.copy(buffer, size));
  }
  std::deque<std::pair<int, std::string>> answers_;
};

TEST(KmsgDevice, OverwrittenRecordsAreCountedByTheirNumbers) {
  Device device;
  const auto follower = device.follow();
  device.has("4,10,1,-;a");
  device.fails(EPIPE);
  device.fails(EINTR);
  device.has("4,25,2,-;b");
  std::vector<KmsgRecord> records;
  EXPECT_EQ(follower->read(records, 10), 2U);
  EXPECT_EQ(follower->overwritten(), 14U);
  EXPECT_EQ(follower->read(records, 10), 0U);
}

TEST(KmsgDevice, WhatWasOverwrittenBeforeTheFirstRecordCountsAsOneAtLeast) {
  Device device;
  const auto follower = device.follow();
  device.fails(EPIPE);
  device.has("4,25,2,-;b");
  std::vector<KmsgRecord> records;
  EXPECT_EQ(follower->read(records, 10), 1U);
  EXPECT_EQ(follower->overwritten(), 1U);
}

TEST(KmsgDevice, AReadThatFailsIsAnError) {
  Device device;
  const auto follower = device.follow();
  device.fails(ENODEV);
  std::vector<KmsgRecord> records;
  EXPECT_FALSE(follower->read(records, 10));
}

}  // namespace
}  // namespace stoker::os
