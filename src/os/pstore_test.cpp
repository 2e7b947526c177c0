// Dumps of pstore: parts in their order, groups apart, what can't be read named.
#include "os/pstore.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "os/system_env.h"

namespace stoker::os {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PstoreFolder : public ::testing::Test {
 protected:
  PstoreFolder() {
    std::string name = (fs::temp_directory_path() / "stoker-pstore-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    env_ = make_system_env("/", root_.string());
  }
  void TearDown() override { fs::remove_all(root_); }

  // So many minutes ago.
  void put(const std::string& path, const std::string& text, int minutes = 0) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
    fs::last_write_time(root_ / path,
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  }

  fs::path root_;
  std::unique_ptr<Env> env_;
};

TEST_F(PstoreFolder, WithoutOneThereIsNothing) {
  const auto all = read_pstore(*env_);
  EXPECT_THAT(all.dumps, IsEmpty());
  EXPECT_THAT(all.skipped, IsEmpty());
}

TEST_F(PstoreFolder, ThePartsOfADumpAreOneTextFromTheOldestOn) {
  put("sys/fs/pstore/dmesg-efi-170000000001001", "Panic#1 Part1\n<6>[    3.0] last\n");
  put("sys/fs/pstore/dmesg-efi-170000000002001", "Panic#1 Part2\n<6>[    2.0] between");
  put("sys/fs/pstore/dmesg-efi-170000000003001", "Panic#1 Part3\n<6>[    1.0] first\n");
  const auto all = read_pstore(*env_);
  ASSERT_THAT(all.dumps, SizeIs(1));
  EXPECT_EQ(all.dumps[0].reason, "Panic");
  EXPECT_EQ(all.dumps[0].folder, "/sys/fs/pstore");
  EXPECT_EQ(all.dumps[0].name, "dmesg-efi-170000000001001");
  EXPECT_EQ(all.dumps[0].text, "<6>[    1.0] first\n<6>[    2.0] between\n<6>[    3.0] last\n");
}

TEST_F(PstoreFolder, AnOopsBeforeThePanicAndAnotherBootsAreDumpsOfTheirOwnNewestFirst) {
  put("sys/fs/pstore/dmesg-ramoops-0", "Oops#1 Part1\n<4>[    7.0] oops\n", 9);
  put("sys/fs/pstore/dmesg-ramoops-1", "Panic#2 Part1\n<0>[    8.0] panic\n", 8);
  put("var/lib/systemd/pstore/1699999/dmesg-efi-169999900001001",
      "Panic#1 Part1\n<0>[    5.0] earlier\n", 600);
  put("var/lib/systemd/pstore/1699999/001/dmesg.txt", "the same once more", 600);
  const auto all = read_pstore(*env_);
  ASSERT_THAT(all.dumps, SizeIs(3));
  EXPECT_EQ(all.dumps[0].text, "<0>[    8.0] panic\n");
  EXPECT_EQ(all.dumps[1].reason, "Oops");
  EXPECT_EQ(all.dumps[2].folder, "/var/lib/systemd/pstore/1699999");
  EXPECT_GT(all.dumps[1].written, all.dumps[2].written);
}

TEST_F(PstoreFolder, WhatTheKernelLeftPackedIsNamedAndOtherFilesAreLetBe) {
  put("sys/fs/pstore/dmesg-erst-7.enc.z", "x\x9c");
  put("sys/fs/pstore/console-ramoops-0", "<6>[    1.0] hello\n");
  put("sys/fs/pstore/dmesg-erst-8", "");
  const auto all = read_pstore(*env_);
  EXPECT_THAT(all.skipped, ElementsAre(HasSubstr("/sys/fs/pstore/dmesg-erst-7.enc.z: packed")));
  ASSERT_THAT(all.dumps, SizeIs(1));
  EXPECT_EQ(all.dumps[0].reason, "");
}

TEST_F(PstoreFolder, ATextThatOnlyLooksLikeAHeaderIsKept) {
  put("sys/fs/pstore/dmesg-erst-1", "Panic# PartX\n<6>[    1.0] text\n");
  put("sys/fs/pstore/dmesg-erst-2", " Part1#\n");
  for (const auto& dump : read_pstore(*env_).dumps) EXPECT_THAT(dump.text, HasSubstr(" Part"));
}

}  // namespace
}  // namespace stoker::os
