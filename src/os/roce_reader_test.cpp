#include "os/roce_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/packet_filter.h"
#include "os/rdma_ports.h"
#include "os/tree_test_support.h"

namespace stoker::os {
namespace {

namespace fs = std::filesystem;

class RoceFiles : public ::testing::Test, protected Tree {
 protected:
  void put_port(const std::string& device, const std::string& netdev) const {
    const std::string port = "sys/class/infiniband/" + device + "/ports/1/";
    put(port + "state", "4: ACTIVE");
    put(port + "phys_state", "5: LinkUp");
    put(port + "link_layer", "Ethernet");
    put(port + "gids/3", "0000:0000:0000:0000:0000:ffff:c000:0201");
    put(port + "gid_attrs/types/3", "RoCE v2");
    put(port + "gid_attrs/ndevs/3", netdev);
    fs::create_directories(root_ / "sys/class/net" / netdev);
  }
  NetdevQuestions questions() {
    return {.dcb = [this](const std::string& netdev) -> Result<DcbSettings> {
              asked_.push_back("dcb " + netdev);
              if (refuse_) return fail(*refuse_, "no");
              return DcbSettings{.pfc = PriorityMask(8)};
            },
            .pause = [](const std::string&) -> Result<PauseSettings> {
              return fail(ErrorCode::not_supported, "none");
            },
            .counters = [](const std::string&, const WantedName& wanted) -> Result<NamedCounters> {
              NamedCounters all = {{"rx_discards_phy", 7}, {"rx0_packets", 1}};
              std::erase_if(all, [&](const auto& each) { return !wanted(each.first); });
              return all;
            }};
  }
  RoceReader reader() {
    return {*env_, questions(), [](std::string_view name) { return name == "rx_discards_phy"; }};
  }
  RdmaPorts ports() { return RdmaPortReader(*env_).read(); }

  std::vector<std::string> asked_;
  std::optional<ErrorCode> refuse_;
};

TEST_F(RoceFiles, TellWhatIsSetUpBelowAPort) {
  put_port("mlx5_0", "eth7");
  put("sys/class/net/eth7/ecn/roce_np/cnp_dscp", "48");
  put("sys/class/net/eth7/ecn/roce_np/cnp_802p_prio", "6");
  put("sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=106");
  put("sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "104");
  fs::create_directories(root_ / "sys/class/net/eth7/device");
  fs::create_directory_symlink("../../../bus/pci/drivers/mlx5_core",
                               root_ / "sys/class/net/eth7/device/driver");
  fs::create_directories(root_ / "sys/class/infiniband/mlx5_0/device");
  auto roce = reader();
  const auto look = roce.read(ports());
  ASSERT_EQ(look.netdevs.size(), 1U);
  const RoceNetdev& netdev = look.netdevs[0];
  EXPECT_EQ(netdev.netdev, "eth7");
  EXPECT_EQ(netdev.devices, std::vector<std::string>{"mlx5_0"});
  EXPECT_EQ(netdev.driver, "mlx5_core");
  EXPECT_FALSE(netdev.software);
  EXPECT_EQ(netdev.cnp_dscp, 48U);
  EXPECT_EQ(netdev.cnp_priority, 6U);
  EXPECT_EQ(netdev.traffic_class, 106U);
  EXPECT_EQ(netdev.default_tos, 104U);
  EXPECT_EQ(netdev.counters, (NamedCounters{{"rx_discards_phy", 7}}));
  EXPECT_EQ(netdev.pause_reason, "none");
  EXPECT_TRUE(netdev.unread.empty()) << "what is not supported is no failure";
}

TEST_F(RoceFiles, OfABondItsMembersAreRead) {
  put_port("mlx5_bond_0", "bond0");
  fs::create_directories(root_ / "sys/class/net/eth8");
  fs::create_directories(root_ / "sys/class/net/bond0/lower_eth8");
  fs::create_directories(root_ / "sys/class/net/bond0/lower_eth7");
  auto roce = reader();
  const auto look = roce.read(ports());
  ASSERT_EQ(look.netdevs.size(), 2U);
  EXPECT_EQ(look.netdevs[0].netdev, "eth7");
  EXPECT_EQ(look.netdevs[1].netdev, "eth8");
}

TEST_F(RoceFiles, ADeviceThatStandsOnItselfDoesNotHoldTheReader) {
  put_port("mlx5_0", "eth7");
  fs::create_directories(root_ / "sys/class/net/eth7/lower_eth7");
  auto roce = reader();
  EXPECT_EQ(roce.read(ports()).netdevs.size(), 1U);
}

TEST_F(RoceFiles, ADriverThatRefusesIsNotAskedAgain) {
  put_port("mlx5_0", "eth7");
  refuse_ = ErrorCode::io;
  auto roce = reader();
  EXPECT_EQ(roce.read(ports()).netdevs[0].unread, std::vector<std::string>{"dcb: no"});
  EXPECT_EQ(roce.read(ports()).netdevs[0].unread, std::vector<std::string>{"dcb: no"});
  EXPECT_EQ(asked_.size(), 1U);
  asked_.clear();
  refuse_ = ErrorCode::unavailable;
  auto other = reader();
  EXPECT_FALSE(other.read(ports()).netdevs[0].dcb);
  refuse_.reset();
  EXPECT_TRUE(other.read(ports()).netdevs[0].dcb) << "what changed while it was read is";
}

TEST_F(RoceFiles, ADriverThatDidNotAnswerInTimeIsAskedAgain) {
  put_port("mlx5_0", "eth7");
  refuse_ = ErrorCode::timeout;
  auto roce = reader();
  EXPECT_EQ(roce.read(ports()).netdevs[0].unread, std::vector<std::string>{"dcb: no"});
  refuse_.reset();
  const auto again = roce.read(ports());
  EXPECT_TRUE(again.netdevs[0].dcb);
  EXPECT_TRUE(again.netdevs[0].unread.empty());
}

TEST_F(RoceFiles, APortWhoseAddressesNameNoNetworkDeviceIsUnread) {
  put_port("mlx5_0", "");
  auto roce = reader();
  const auto look = roce.read(ports());
  EXPECT_TRUE(look.netdevs.empty());
  ASSERT_EQ(look.unread.size(), 1U);
  EXPECT_EQ(look.unread[0].rfind("mlx5_0 port 1: its addresses name no network device", 0), 0U);
  // One without an address and without a link is not used.
  fs::remove_all(root_ / "sys/class/infiniband/mlx5_0/ports/1/gids");
  put("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN");
  EXPECT_TRUE(reader().read(ports()).unread.empty());
}

TEST_F(RoceFiles, SoftwareRoceIsKnownByItsParent) {
  put_port("rxe0", "eth0");
  put("sys/class/infiniband/rxe0/parent", "eth0");
  auto roce = reader();
  EXPECT_TRUE(roce.read(ports()).netdevs.at(0).software);
}

TEST_F(RoceFiles, InfiniBandHasNoNetworkDeviceToAsk) {
  put_port("mlx5_0", "ib0");
  put("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
  auto roce = reader();
  EXPECT_TRUE(roce.read(ports()).netdevs.empty());
  EXPECT_TRUE(asked_.empty());
}

TEST_F(RoceFiles, APacketFilterIsReadByItsOwnTools) {
  const auto tool = [&](const std::string& name, const std::string& script) {
    const fs::path file = root_ / name;
    std::ofstream(file) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  };
  put("proc/self/status", "Name:\tx\nCapEff:\t0000000000001000");
  const PacketFilterTools tools{.nft = tool("nft", "echo \"$@\""),
                                .legacy = tool("save", "echo saved")};
  const auto first = read_packet_filter(*env_, tools, std::chrono::seconds(20));
  EXPECT_EQ(first.nft, "-j list ruleset\n");
  EXPECT_EQ(first.legacy + first.legacy_reason, "") << "the kernel has no such table";
  put("proc/net/ip_tables_names", "filter");
  EXPECT_EQ(read_packet_filter(*env_, tools, std::chrono::seconds(20)).legacy, "saved\n");

  const PacketFilterTools bad{.nft = tool("nft", "sleep 60"), .legacy = ""};
  const auto hung = read_packet_filter(*env_, bad, std::chrono::milliseconds(100));
  EXPECT_NE(hung.nft_reason.find("did not end in time"), std::string::npos);
  EXPECT_NE(hung.legacy_reason.find("not installed"), std::string::npos);

  put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000fff");
  const auto refused = read_packet_filter(*env_, tools, std::chrono::seconds(20));
  EXPECT_NE(refused.nft_reason.find("CAP_NET_ADMIN"), std::string::npos);
  EXPECT_TRUE(refused.nft.empty());
}

}  // namespace
}  // namespace stoker::os
