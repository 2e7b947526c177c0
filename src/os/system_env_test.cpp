#include "os/system_env.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace stoker::os {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, std::string_view content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << content;
}

class SystemEnvTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stoker-env-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directories(folder_ / "host");
    fs::create_directories(folder_ / "devices");
    write_file(folder_ / "secret", "outside");
    env_ = make_system_env((folder_ / "host").string(), (folder_ / "devices").string());
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
  std::unique_ptr<Env> env_;
};

TEST_F(SystemEnvTest, DevicesFilesComeFromTheDevicesRootAndTheRestFromTheHosts) {
  write_file(folder_ / "host/proc/meminfo", "host");
  write_file(folder_ / "host/proc/driver/nvidia/version", "wrong");
  write_file(folder_ / "devices/proc/driver/nvidia/version", "devices");
  write_file(folder_ / "devices/sys/bus/pci/devices/0000:1b:00.0/vendor", "0x10de");
  write_file(folder_ / "devices/dev/nvidia0", "");
  write_file(folder_ / "host/sys/bus/pcie", "host");
  EXPECT_EQ(env_->read_file("/proc/meminfo"), "host");
  EXPECT_EQ(env_->read_file("/proc/driver/nvidia/version"), "devices");
  EXPECT_EQ(env_->read_file("/sys/bus/pci/devices/0000:1b:00.0/vendor"), "0x10de");
  EXPECT_EQ(env_->read_file("/sys/bus/pcie"), "host") << "only the folder itself is the devices'";
  EXPECT_TRUE(env_->exists("/dev/nvidia0"));
  EXPECT_FALSE(env_->exists("/dev/nvidia1"));
  EXPECT_EQ(env_->read_file("/proc/../proc/driver/./nvidia/version"), "devices");
}

TEST_F(SystemEnvTest, NoSymbolicLinkLeadsOutOfTheRoot) {
  fs::create_directories(folder_ / "host/etc");
  fs::create_symlink(folder_ / "secret", folder_ / "host/etc/absolute");
  fs::create_symlink("../../secret", folder_ / "host/etc/relative");
  fs::create_directory_symlink("../..", folder_ / "host/etc/up");
  EXPECT_FALSE(env_->read_file("/etc/absolute"));
  EXPECT_FALSE(env_->read_file("/etc/relative"));
  EXPECT_FALSE(env_->read_file("/etc/up/secret"));
  EXPECT_FALSE(env_->read_file("/../secret"));
  EXPECT_FALSE(env_->read_file("/etc/../../secret"));
}

TEST_F(SystemEnvTest, LinksInsideTheRootAreFollowedAsIfItWereTheWholeMachine) {
  write_file(folder_ / "devices/sys/bus/pci/real/vendor", "0x10de");
  fs::create_symlink("/sys/bus/pci/real", folder_ / "devices/sys/bus/pci/absolute");
  fs::create_symlink("../pci/real", folder_ / "devices/sys/bus/pci/relative");
  EXPECT_EQ(env_->read_file("/sys/bus/pci/absolute/vendor"), "0x10de");
  EXPECT_EQ(env_->read_file("/sys/bus/pci/relative/vendor"), "0x10de");
  EXPECT_EQ(env_->read_link("/sys/bus/pci/relative"), "../pci/real");
}

TEST_F(SystemEnvTest, ACircleOfLinksIsAnErrorAndNotAHang) {
  fs::create_symlink("b", folder_ / "host/a");
  fs::create_symlink("a", folder_ / "host/b");
  const auto read = env_->read_file("/a");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::io);
}

TEST_F(SystemEnvTest, WhatIsNotThereSaysWhereItWasLookedFor) {
  const auto read = env_->read_file("/proc/driver/nvidia/version");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::not_found);
  EXPECT_NE(read.error().message().find("devices/proc/driver/nvidia/version"), std::string::npos);
}

TEST_F(SystemEnvTest, AFileLongerThanAllowedIsAnError) {
  write_file(folder_ / "host/big", std::string(2000, 'x'));
  EXPECT_TRUE(env_->read_file("/big", 2000));
  const auto read = env_->read_file("/big", 1999);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::corrupt);
}

TEST_F(SystemEnvTest, AFifoADeviceOrAFolderInPlaceOfAFileIsAnErrorAndNotAHang) {
  fs::create_directories(folder_ / "host/folder");
  ASSERT_EQ(::mkfifo((folder_ / "host/fifo").c_str(), 0600), 0);
  EXPECT_FALSE(env_->read_file("/fifo"));
  EXPECT_FALSE(env_->read_file("/folder"));
  const auto device = make_system_env()->read_file("/dev/null");
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().code(), ErrorCode::not_found);
}

TEST_F(SystemEnvTest, AFolderIsListedInOrderWithoutDots) {
  write_file(folder_ / "host/d/b", "");
  write_file(folder_ / "host/d/a", "");
  EXPECT_EQ(env_->list_folder("/d"), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(env_->list_folder("/d/a"));
}

TEST_F(SystemEnvTest, TheFilesystemUnderAPathHasASize) {
  const auto use = env_->filesystem("/");
  ASSERT_TRUE(use);
  EXPECT_GT(use->total_bytes, 0U);
  EXPECT_LE(use->free_bytes, use->total_bytes);
}

TEST_F(SystemEnvTest, LooksForTheProcesssOwnFoldersBelowNoRoot) {
  EXPECT_TRUE(env_->own_filesystem(folder_.string()));
  EXPECT_FALSE(env_->filesystem(folder_.string())) << "that path lies below the root";
  const auto gone = env_->own_filesystem((folder_ / "gone").string());
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), ErrorCode::not_found);
}

TEST(SystemEnv, ReadsTheRealMachineWithoutRoots) {
  const auto env = make_system_env();
  EXPECT_TRUE(env->read_file("/proc/meminfo")->starts_with("MemTotal:"));
  EXPECT_TRUE(env->read_file("/proc/self/comm"));
  EXPECT_EQ(env->real_path("/proc//./a/../meminfo"), "/proc/meminfo");
  EXPECT_FALSE(env->hostname().empty());
}

}  // namespace
}  // namespace stoker::os
