#include "os/rdma_ports.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <thread>

#include "os/tree_test_support.h"

namespace stoker::os {
namespace {

namespace fs = std::filesystem;

class RdmaPortFiles : public ::testing::Test, protected Tree {
 protected:
  static std::string port(const std::string& device) {
    return "sys/class/infiniband/" + device + "/ports/1/";
  }
  void put_port(const std::string& device) const {
    put("sys/class/infiniband/" + device + "/hca_type", "MT4129");
    put(port(device) + "state", "4: ACTIVE");
    put(port(device) + "phys_state", "5: LinkUp");
    put(port(device) + "rate", "400 Gb/sec (4X NDR)");
    put(port(device) + "link_layer", "Ethernet");
    put(port(device) + "lid", "0x1a");
    put(port(device) + "sm_lid", "0x1");
    put(port(device) + "counters/symbol_error", "7");
    put(port(device) + "hw_counters/out_of_sequence", "4294967295");
    put(port(device) + "hw_counters/lifespan", "10");
    put(port(device) + "gids/0", "fe80:0000:0000:0000:5100:00ff:fe00:0001");
    put(port(device) + "gids/1", "0000:0000:0000:0000:0000:0000:0000:0000");
    put(port(device) + "gids/10", "0000:0000:0000:0000:0000:ffff:c000:0201");
    put(port(device) + "gid_attrs/types/10", "RoCE v2");
    put(port(device) + "gid_attrs/ndevs/10", "eth7");
    put("sys/class/net/eth7/mtu", "9000");
    put("sys/class/net/eth7/ecn/roce_np/enable/3", "1");
    put("sys/class/net/eth7/ecn/roce_rp/enable/3", "0");
  }
};

TEST_F(RdmaPortFiles, ArePortsWithStateCountersAndGids) {
  put_port("mlx5_10");
  put_port("mlx5_2");
  const auto read = RdmaPortReader(*env_).read();
  ASSERT_EQ(read.ports.size(), 2U);
  const RdmaPort& port = read.ports[0];
  EXPECT_EQ(port.device, "mlx5_2");
  EXPECT_EQ(port.model, "MT4129");
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_EQ(port.physical, "LinkUp");
  EXPECT_EQ(port.rate, "400 Gb/sec (4X NDR)");
  EXPECT_EQ(port.lid, 26U);
  EXPECT_EQ(port.counters.at("symbol_error"), 7U);
  EXPECT_EQ(port.counters.at("out_of_sequence"), 4'294'967'295U);
  EXPECT_FALSE(port.counters.contains("lifespan"));
  ASSERT_EQ(port.gids.size(), 2U);
  EXPECT_EQ(port.gids[1].index, 10U);
  EXPECT_EQ(port.gids[1].type, "RoCE v2");
  EXPECT_EQ(port.netdev, "eth7");
  EXPECT_EQ(port.mtu, 9000U);
  EXPECT_TRUE(port.ecn_notices.at(3));
  EXPECT_FALSE(port.ecn_reacts.at(3));
  EXPECT_TRUE(port.unread.empty());
}

// One file cannot be read: read(2) fails with EIO, as of a process's memory at 0 (proc_pid_mem(5)), or open(2) fails.
class OneFileFails final : public Env {
 public:
  enum class How { not_at_all, refused, not_opened };

  OneFileFails(const Env& env, std::string file) : env_(env), file_(std::move(file)) {}
  Result<UniqueFd> open(std::string_view path, int flags) const override {
    if (!path.ends_with(file_) || how == How::not_at_all) return env_.open(path, flags);
    if (how == How::not_opened) return fail(Error::from_errno(ENOMEM, "open"));
    return UniqueFd(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  }
  const Clock& clock() const override { return env_.clock(); }
  Result<std::string> read_file(std::string_view path, std::size_t limit) const override {
    return env_.read_file(path, limit);
  }
  Result<std::vector<std::string>> list_folder(std::string_view path) const override {
    return env_.list_folder(path);
  }
  Result<std::string> read_link(std::string_view path) const override {
    return env_.read_link(path);
  }
  bool exists(std::string_view path) const override { return env_.exists(path); }
  Result<FilesystemUse> filesystem(std::string_view path) const override {
    return env_.filesystem(path);
  }
  Result<FilesystemUse> own_filesystem(const std::string& path) const override {
    return env_.own_filesystem(path);
  }
  std::string hostname() const override { return env_.hostname(); }
  std::string real_path(std::string_view path) const override { return env_.real_path(path); }

  How how = How::not_at_all;

 private:
  const Env& env_;
  const std::string file_;
};

std::size_t open_files() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// How many this process may have open, until the end of the scope.
class FileLimit {
 public:
  explicit FileLimit(rlim_t files) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    set(files);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  void set(rlim_t files) const {
    const rlimit now{.rlim_cur = files, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }

 private:
  rlimit before_{};
};

TEST_F(RdmaPortFiles, NoMoreStayOpenThanAQuarterOfWhatTheProcessMayOpen) {
  for (int n = 0; n < 20; ++n) put_port("mlx5_" + std::to_string(n));
  const FileLimit limit(128);
  const auto before = open_files();
  RdmaPortReader reader(*env_, {}, {.settings = Seconds(3600)});
  reader.read();
  const auto again = reader.read();
  EXPECT_GT(open_files(), before);
  EXPECT_LE(open_files(), before + 32);
  for (const RdmaPort& each : again.ports) {
    EXPECT_EQ(each.counters.size(), 2U) << each.device;
    EXPECT_TRUE(each.unread.empty()) << each.device;
  }
}

TEST_F(RdmaPortFiles, WhereNoFileIsLeftThoseThatStayOpenAreGivenBackAndNothingIsRefused) {
  for (int n = 0; n < 8; ++n) put_port("mlx5_" + std::to_string(n));
  const FileLimit limit(512);
  RdmaPortReader reader(*env_, {}, {.settings = Seconds(3600)});
  reader.read();
  // The quarter is more than that, so that it is not what closes them.
  for (int n = 8; n < 10; ++n) put_port("mlx5_" + std::to_string(n));
  std::vector<UniqueFd> others;
  while (true) {
    UniqueFd one(::open("/", O_PATH | O_CLOEXEC));
    if (one.get() < 0) break;
    others.push_back(std::move(one));
  }
  const auto read = reader.read();
  others.clear();
  EXPECT_EQ(read.problem, "");
  ASSERT_EQ(read.ports.size(), 10U);
  for (const RdmaPort& each : read.ports) {
    EXPECT_EQ(each.counters.size(), 2U) << each.device;
    EXPECT_TRUE(each.unread.empty()) << each.device;
  }
}

TEST_F(RdmaPortFiles, ARefusalIsTriedAgainWithTheSettingsAndSoHeals) {
  put_port("mlx5_0");
  OneFileFails env(*env_, "counters/symbol_error");
  RdmaPortReader reader(env, {}, {.settings = Milliseconds(1)});
  env.how = OneFileFails::How::refused;
  EXPECT_EQ(reader.read().ports.at(0).unread.size(), 1U);
  env.how = OneFileFails::How::not_at_all;
  std::this_thread::sleep_for(Milliseconds(2));
  const auto healed = reader.read();
  EXPECT_TRUE(healed.ports.at(0).unread.empty());
  EXPECT_EQ(healed.ports.at(0).counters.size(), 2U);
}

TEST_F(RdmaPortFiles, AnErrorThatIsNoRefusalLeavesTheCountersUnreadThisTimeAlone) {
  put_port("mlx5_0");
  OneFileFails env(*env_, "counters/symbol_error");
  RdmaPortReader reader(env, {}, {.settings = Seconds(3600)});
  env.how = OneFileFails::How::not_opened;
  const auto failed = reader.read();
  ASSERT_EQ(failed.ports.at(0).unread.size(), 1U);
  EXPECT_EQ(failed.ports.at(0).unread[0].rfind("counters/symbol_error: ", 0), 0U);
  env.how = OneFileFails::How::not_at_all;
  const auto read = reader.read();
  EXPECT_TRUE(read.ports.at(0).unread.empty());
  EXPECT_EQ(read.ports.at(0).counters.at("symbol_error"), 7U);
}

TEST_F(RdmaPortFiles, ADeviceThatRefusesACounterIsAskedForNoneAgain) {
  put_port("mlx5_0");
  put_port("mlx5_1");
  OneFileFails env(*env_, "mlx5_0/ports/1/counters/symbol_error");
  env.how = OneFileFails::How::refused;
  RdmaPortReader reader(env, {}, {.settings = Seconds(3600)});
  const auto first = reader.read();
  ASSERT_EQ(first.ports[0].unread.size(), 1U);
  EXPECT_EQ(first.ports[0].unread[0].rfind("counters/symbol_error: ", 0), 0U);
  EXPECT_TRUE(first.ports[0].counters.empty()) << "of hw_counters neither";
  EXPECT_EQ(first.ports[0].state, "ACTIVE");
  EXPECT_TRUE(first.ports[1].unread.empty());
  env.how = OneFileFails::How::not_at_all;
  EXPECT_TRUE(reader.read().ports[0].counters.empty());
  EXPECT_EQ(reader.read().ports[0].unread.size(), 1U) << "it stays said";
}

TEST_F(RdmaPortFiles, APortOrADeviceThatTellsNoStateIsSaidToBeUnread) {
  put_port("mlx5_0");
  fs::remove(root_ / port("mlx5_0") / "phys_state");
  fs::create_directories(root_ / "sys/class/infiniband/mlx5_1");
  const auto read = RdmaPortReader(*env_).read();
  ASSERT_EQ(read.ports.size(), 1U);
  ASSERT_EQ(read.ports[0].unread.size(), 1U);
  EXPECT_EQ(read.ports[0].unread[0].rfind("phys_state: ", 0), 0U);
  ASSERT_EQ(read.unread.size(), 1U);
  EXPECT_EQ(read.unread[0].rfind("mlx5_1: ", 0), 0U);
}

TEST_F(RdmaPortFiles, WhatPeopleSetIsReadAnewOnlyWhenItIsOldAndCountersAlways) {
  put_port("mlx5_0");
  RdmaPortReader reader(*env_, {}, {.settings = Seconds(3600)});
  EXPECT_EQ(reader.read().ports.at(0).mtu, 9000U);
  put("sys/class/net/eth7/mtu", "1500");
  put(port("mlx5_0") + "counters/symbol_error", "8");
  put(port("mlx5_0") + "state", "1: DOWN");
  const auto again = reader.read();
  EXPECT_EQ(again.ports.at(0).mtu, 9000U);
  EXPECT_EQ(again.ports.at(0).counters.at("symbol_error"), 8U);
  EXPECT_EQ(again.ports.at(0).state, "DOWN");
}

TEST_F(RdmaPortFiles, OneDeviceIsReadAloneUntilItIsGone) {
  put_port("mlx5_0");
  put_port("mlx5_1");
  RdmaPortReader reader(*env_, {}, {.settings = Seconds(3600)});
  const auto there = reader.read("mlx5_1", 2);
  ASSERT_EQ(there.ports.size(), 1U);
  EXPECT_EQ(there.ports[0].device, "mlx5_1");
  EXPECT_TRUE(there.absent.empty());
  fs::remove_all(root_ / "sys/class/infiniband/mlx5_1");
  const auto gone = reader.read("mlx5_1", 2);
  EXPECT_TRUE(gone.ports.empty());
  ASSERT_EQ(gone.absent.size(), 1U);
  EXPECT_EQ(gone.absent[0].device, "mlx5_1");
}

TEST_F(RdmaPortFiles, ReadersOfADeviceEachShareTheFilesThatMayStayOpen) {
  put_port("mlx5_0");
  const FileLimit limit(64);
  const auto before = open_files();
  RdmaPortReader reader(*env_, {}, {.settings = Seconds(3600)});
  reader.read("mlx5_0", 8);
  reader.read("mlx5_0", 8);
  EXPECT_LE(open_files(), before + 2);
}

TEST_F(RdmaPortFiles, MorePortsThanAreLookedAtAreNamedByTheirDevice) {
  for (std::size_t n = 1; n <= most_rdma_ports + 1; ++n)
    put(fmt::format("sys/class/infiniband/mlx5_0/ports/{}/state", n), "4: ACTIVE");
  put_port("mlx5_1");
  const auto read = RdmaPortReader(*env_).read();
  EXPECT_EQ(read.ports.size(), most_rdma_ports);
  ASSERT_EQ(read.unread.size(), 2U);
  EXPECT_EQ(read.unread[0], "mlx5_0: port 257 is not looked at, for 256 ports are the most");
  EXPECT_EQ(read.unread[1], "mlx5_1: port 1 is not looked at, for 256 ports are the most");
}

TEST_F(RdmaPortFiles, AFileThatWasReplacedIsOpenedAnew) {
  put_port("mlx5_0");
  RdmaPortReader reader(*env_, {}, {.settings = Seconds(3600)});
  reader.read();
  const fs::path file = root_ / port("mlx5_0") / "counters/symbol_error";
  put(port("mlx5_0") + "counters/.new", "9");
  fs::rename(root_ / port("mlx5_0") / "counters/.new", file);
  EXPECT_EQ(reader.read().ports.at(0).counters.at("symbol_error"), 9U);
  fs::remove(file);
  const auto gone = reader.read();
  EXPECT_FALSE(gone.ports.at(0).counters.contains("symbol_error"));
  EXPECT_TRUE(gone.ports.at(0).unread.empty()) << "a file that is gone is no refusal";
  EXPECT_TRUE(gone.ports.at(0).counters.contains("out_of_sequence"));
}

TEST_F(RdmaPortFiles, ADeviceThatIsNotThereAnyMoreIsLookedForOnTheBus) {
  put_port("mlx5_0");
  put("sys/bus/pci/devices/0000:1b:00.0/vendor", "0x15b3");
  fs::create_directory_symlink("../../../bus/pci/devices/0000:1b:00.0",
                               root_ / "sys/class/infiniband/mlx5_0/device");
  RdmaPortReader reader(*env_);
  const auto first = reader.read();
  EXPECT_EQ(first.ports.at(0).pci, *PciAddress::parse("0000:1b:00.0"));
  EXPECT_TRUE(first.absent.empty());
  fs::remove_all(root_ / "sys/class/infiniband/mlx5_0");
  fs::create_directories(root_ / "sys/bus/pci/drivers/vfio-pci");
  fs::create_directory_symlink("../../../../bus/pci/drivers/vfio-pci",
                               root_ / "sys/bus/pci/devices/0000:1b:00.0/driver");
  const auto given = reader.read();
  ASSERT_EQ(given.absent.size(), 1U);
  EXPECT_TRUE(given.absent[0].on_bus);
  EXPECT_EQ(given.absent[0].driver, "vfio-pci");
  fs::remove_all(root_ / "sys/bus/pci/devices/0000:1b:00.0");
  fs::remove_all(root_ / "sys/class/infiniband");
  const auto gone = reader.read();
  ASSERT_EQ(gone.absent.size(), 1U);
  EXPECT_FALSE(gone.absent[0].on_bus);
  EXPECT_TRUE(gone.problem.empty());
}

// A device that had the driver mlx5_core and is gone; `driver` has its function now.
class DeviceThatIsGone : public RdmaPortFiles {
 protected:
  AbsentRdmaDevice gone(const std::string& driver, const std::string& netns_mode) {
    put_port("mlx5_0");
    put("sys/module/ib_core/parameters/netns_mode", netns_mode);
    const std::string function = "sys/bus/pci/devices/0000:1b:00.0";
    fs::create_directories(root_ / function);
    fs::create_directory_symlink("../../../bus/pci/devices/0000:1b:00.0",
                                 root_ / "sys/class/infiniband/mlx5_0/device");
    const auto bind = [&](const std::string& to) {
      fs::create_directories(root_ / "sys/bus/pci/drivers" / to);
      fs::remove(root_ / function / "driver");
      fs::create_directory_symlink("../../../../bus/pci/drivers/" + to,
                                   root_ / function / "driver");
    };
    bind("mlx5_core");
    RdmaPortReader reader(*env_);
    reader.read();
    fs::remove_all(root_ / "sys/class/infiniband/mlx5_0");
    bind(driver);
    return reader.read().absent.at(0);
  }
};

TEST_F(DeviceThatIsGone, WasNotGivenToItsOwnDriver) {
  const auto device = gone("mlx5_core", "Y");
  EXPECT_TRUE(device.on_bus);
  EXPECT_EQ(device.driver, "");
}

TEST_F(DeviceThatIsGone, MayBeInAnotherNetworkNamespaceWhereEachHasItsOwn) {
  EXPECT_EQ(gone("mlx5_core", "N").driver, "mlx5_core");
}

TEST_F(DeviceThatIsGone, WasGivenToAnotherDriver) {
  EXPECT_EQ(gone("vfio-pci", "Y").driver, "vfio-pci");
}

TEST_F(RdmaPortFiles, WhatIsLeftOutIsNotReadAndANodeWithoutCardsHasNoProblem) {
  EXPECT_TRUE(RdmaPortReader(*env_).read().problem.empty());
  put_port("mlx5_0");
  EXPECT_TRUE(RdmaPortReader(*env_, {"mlx5_0"}).read().ports.empty());
}

}  // namespace
}  // namespace stoker::os
