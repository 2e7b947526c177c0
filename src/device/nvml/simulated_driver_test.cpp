// The reader on the simulated driver, in each row of the ABI that matters: what a real driver of that
// version is known to answer, end to end through dlopen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "device/nvml/driver.h"
#include "device/nvml/getters.h"
#include "device/nvml/open_all_test_support.h"
#include "device/simnode/sim_node.h"

namespace stoker::nvml {
namespace {

using simnode::FaultRequest;
using simnode::SimNode;

class Node {
 public:
  Node(const std::string& profile, const std::string& version) {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoker-nvml-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    simnode::Recipe recipe;
    recipe.profile = profile;
    recipe.driver_version = version;
    auto made = SimNode::create(recipe, folder_);
    EXPECT_TRUE(made.has_value()) << (made.has_value() ? "" : made.error().describe());
    node_ = std::make_unique<SimNode>(std::move(*made));
    EXPECT_TRUE(node_->set_load("idle", "all").has_value());
    ::setenv("STOKER_SIM_STATE", node_->state_file().c_str(), 1);
  }
  ~Node() {
    node_.reset();
    std::filesystem::remove_all(folder_);
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void inject(const std::string& name, std::vector<std::string> args = {},
              const std::string& call = "", const std::string& code = "") {
    FaultRequest fault;
    fault.name = name;
    fault.args = std::move(args);
    fault.call = call;
    fault.return_code = code;
    const auto done = node_->inject(fault);
    EXPECT_TRUE(done.has_value()) << (done.has_value() ? "" : done.error().describe());
  }
  SimNode& node() { return *node_; }

 private:
  std::string folder_;
  std::unique_ptr<SimNode> node_;
};

DriverOptions options() {
  DriverOptions options;
  options.library = STOKER_BINARY_DIR "/lib/libstoker_sim_nvml.so";
  return options;
}

struct Opened {
  std::unique_ptr<Driver> driver;
  OpenedGpus gpus;
  [[nodiscard]] device::Gpu& gpu(std::size_t index = 0) const { return *gpus.gpus.at(index); }
};

Opened open(const DriverOptions& with = options()) {
  auto driver = Driver::open(with);
  EXPECT_TRUE(driver.has_value()) << (driver.has_value() ? "" : driver.error().text);
  if (!driver.has_value()) return {};
  OpenedGpus gpus = open_all(**driver);
  return {std::move(*driver), std::move(gpus)};
}

Reading read_now(device::Gpu& gpu, FieldId id, device::Target target = {}) {
  Readings out;
  gpu.read(field(id).getter, {&field(id)}, out);
  for (const device::TargetReading& told : out) {
    if (told.target == target) return told.reading;
  }
  ADD_FAILURE() << "nothing told of " << field(id).name;
  return {};
}

double value(device::Gpu& gpu, FieldId id) {
  const Reading reading = read_now(gpu, id);
  EXPECT_TRUE(reading.ok()) << field(id).name << ": " << to_string(reading.reason);
  return as_double(reading.value);
}

// ---- each driver row

class EveryDriver : public testing::TestWithParam<const char*> {};

TEST_P(EveryDriver, TellsEveryFieldOrAReasonThatIsNotOurs) {
  Node node("hgx-h100", GetParam());
  const Opened opened = open();
  EXPECT_TRUE(opened.driver->info().simulated);
  EXPECT_EQ(opened.driver->info().driver_version, GetParam());
  ASSERT_EQ(opened.gpus.gpus.size(), 8U);
  EXPECT_TRUE(opened.driver->wait_xid_event(Milliseconds(1)).has_value());
  std::this_thread::sleep_for(Milliseconds(120));
  for (const Field& field : all_fields()) {
    if (find_getter(field.getter) == nullptr) continue;
    Readings out;
    opened.gpu(3).read(field.getter, {&field}, out);
    EXPECT_FALSE(out.empty()) << field.name;
    for (const device::TargetReading& told : out) {
      const Reason reason = told.reading.reason;
      EXPECT_TRUE(reason == Reason::ok || reason == Reason::not_supported ||
                  reason == Reason::pending)
          << field.name << ": " << to_string(reason);
    }
  }
  for (const FieldId id :
       {FieldId::temperature, FieldId::power, FieldId::utilization, FieldId::memory_total,
        FieldId::memory_used, FieldId::sm_clock, FieldId::last_xid,
        FieldId::ecc_uncorrected_volatile, FieldId::throttle_reasons, FieldId::pcie_width}) {
    value(opened.gpu(3), id);
  }
}

TEST_P(EveryDriver, ListsItsProcessesWhateverTheStride) {
  Node node("hgx-h100", GetParam());
  const Opened opened = open();
  std::vector<device::ProcessInfo> none;
  EXPECT_EQ(opened.gpu().processes(none).value, Value(std::int64_t{0}));
  node.inject("process", {"add", "4242", "python3", "20480"});
  node.inject("process", {"add", "4243", "trainer", "1024"});
  std::vector<device::ProcessInfo> processes;
  const Reading listed = opened.gpu().processes(processes);
  EXPECT_EQ(listed.value, Value(std::int64_t{2})) << to_string(listed.reason);
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_EQ(processes[0].pid, 4242U);
  EXPECT_EQ(processes[0].name, "python3");
  EXPECT_TRUE(processes[0].memory_known);
  EXPECT_EQ(processes[0].memory_bytes, std::uint64_t{20480} << 20U);
  EXPECT_EQ(processes[1].pid, 4243U);
  EXPECT_EQ(processes[1].memory_bytes, std::uint64_t{1024} << 20U);
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryDriver,
                         testing::Values("470.223.02", "510.108.03", "525.147.05", "535.43.02",
                                         "535.98", "535.183.01", "550.127.08", "550.163.01",
                                         "570.124.06", "580.159.04"));

// ---- what came when

TEST(SimulatedDriver, ReservedMemoryIsKnownSince510AndUsedLeavesItOut) {
  double used_before = 0;
  {
    Node node("hgx-h100", "470.223.02");
    const Opened opened = open();
    used_before = value(opened.gpu(), FieldId::memory_used);
    EXPECT_EQ(read_now(opened.gpu(), FieldId::memory_reserved).reason, Reason::not_supported);
  }
  Node node("hgx-h100", "580.159.04");
  const Opened opened = open();
  const double used = value(opened.gpu(), FieldId::memory_used);
  const double reserved = value(opened.gpu(), FieldId::memory_reserved);
  EXPECT_GT(reserved, 0);
  EXPECT_EQ(used_before, used + reserved);
}

TEST(SimulatedDriver, RatesNeedADriverThatHasThemAndAHopper) {
  {
    Node node("hgx-h100", "510.108.03");
    const Opened opened = open();
    EXPECT_EQ(read_now(opened.gpu(), FieldId::tensor_active).reason, Reason::not_supported);
  }
  Node node("a100-40", "580.159.04");
  const Opened opened = open();
  EXPECT_EQ(read_now(opened.gpu(), FieldId::tensor_active).reason, Reason::no_source);
  EXPECT_EQ(opened.gpu().info().architecture, "ampere");
}

TEST(SimulatedDriver, ACardUnderLoadIsSeenAtWork) {
  Node node("hgx-h100", "");
  ASSERT_TRUE(node.node().set_load("training", "all").has_value());
  const Opened opened = open();
  std::this_thread::sleep_for(Milliseconds(120));
  EXPECT_GT(value(opened.gpu(), FieldId::utilization), 50);
  EXPECT_GT(value(opened.gpu(), FieldId::tensor_active), 20);
  EXPECT_GT(value(opened.gpu(), FieldId::nvlink_rx), 1e9);
  EXPECT_GT(value(opened.gpu(), FieldId::power), 200);
}

TEST(SimulatedDriver, AnH100SaysWhatTheCapturedOneSays) {
  Node node("hgx-h100", "");
  const Opened opened = open();
  const device::GpuInfo& info = opened.gpu().info();
  EXPECT_EQ(info.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(info.brand, "NVIDIA");
  EXPECT_EQ(info.architecture, "hopper");
  EXPECT_EQ(info.compute_capability, 90);
  EXPECT_EQ(info.cores, 16896U);
  EXPECT_EQ(info.memory_bytes, 85520809984U);
  EXPECT_EQ(info.slowdown_celsius, 89);
  EXPECT_EQ(info.shutdown_celsius, 95);
  EXPECT_EQ(info.max_operating_celsius, 87);
  EXPECT_EQ(info.power_limit_max_watts, 700);
  EXPECT_EQ(info.max_sm_clock_mhz, 1980U);
  EXPECT_EQ(info.nvlinks.size(), 18U);
  EXPECT_TRUE(info.gpm);
}

TEST(SimulatedDriver, EveryNvLinkHasStateAndErrors) {
  for (const char* version : {"470.223.02", "580.159.04"}) {
    Node node("hgx-h100", version);
    node.inject("nvlink-down");
    const Opened opened = open();
    Readings out;
    opened.gpu().read(Getter::nvlink_state, {&field(FieldId::nvlink_state)}, out);
    ASSERT_EQ(out.size(), 18U);
    EXPECT_EQ(std::ranges::count_if(out,
                                    [](const device::TargetReading& told) {
                                      return told.reading.ok() &&
                                             as_double(told.reading.value) == 0;
                                    }),
              1);
    Readings errors;
    opened.gpu().read(Getter::nvlink_errors,
                      {&field(FieldId::nvlink_replay_errors), &field(FieldId::nvlink_crc_errors)},
                      errors);
    ASSERT_EQ(errors.size(), 36U);
    for (const device::TargetReading& told : errors) EXPECT_TRUE(told.reading.ok()) << version;
  }
}

// ---- MIG

TEST(SimulatedDriver, MigDevicesComeAndGoWhileTheGpuStaysOpen) {
  Node node("hgx-h100", "");
  const Opened opened = open();
  EXPECT_FALSE(opened.gpu().refresh());
  node.inject("mig-mode", {"on"});
  node.inject("mig-create", {"3g.40gb"});
  node.inject("mig-create", {"1g.10gb"});
  EXPECT_TRUE(opened.gpu().refresh());
  const device::GpuInfo& info = opened.gpu().info();
  EXPECT_TRUE(info.mig_enabled);
  ASSERT_EQ(info.migs.size(), 2U);
  std::map<std::string, std::size_t> by_profile;
  for (std::size_t i = 0; i < 2; ++i) by_profile[info.migs[i].profile] = i;
  ASSERT_TRUE(by_profile.contains("3g.40gb") && by_profile.contains("1g.10gb"));
  for (const device::MigInfo& mig : info.migs) {
    EXPECT_TRUE(mig.uuid.starts_with("MIG-"));
    EXPECT_GT(mig.memory_bytes, std::uint64_t{9} << 30U);
    EXPECT_GT(mig.multiprocessors, 0U);
  }
  const auto larger = mig_target(by_profile["3g.40gb"]);
  const auto smaller = mig_target(by_profile["1g.10gb"]);
  EXPECT_GT(as_double(read_now(opened.gpu(), FieldId::memory_total, larger).value),
            as_double(read_now(opened.gpu(), FieldId::memory_total, smaller).value));
  EXPECT_EQ(read_now(opened.gpu(), FieldId::utilization).reason, Reason::not_supported);
  EXPECT_EQ(read_now(opened.gpu(), FieldId::utilization, larger).reason, Reason::not_supported);
  EXPECT_EQ(read_now(opened.gpu(), FieldId::sm_active, larger).reason, Reason::pending);
  std::this_thread::sleep_for(Milliseconds(120));
  EXPECT_TRUE(read_now(opened.gpu(), FieldId::sm_active, larger).ok());
  EXPECT_TRUE(read_now(opened.gpu(), FieldId::temperature).ok());
  std::vector<device::ProcessInfo> processes;
  EXPECT_TRUE(opened.gpu().processes(processes).ok());
  node.inject("mig-mode", {"off"});
  EXPECT_TRUE(opened.gpu().refresh());
  EXPECT_TRUE(opened.gpu().info().migs.empty());
  EXPECT_TRUE(read_now(opened.gpu(), FieldId::utilization).ok());
}

// ---- what goes wrong

TEST(SimulatedDriver, ALostGpuIsLostInEveryReadingAndTheOthersAreNot) {
  Node node("hgx-h100", "");
  const Opened opened = open();
  node.inject("vanish");
  for (const FieldId id : {FieldId::power, FieldId::memory_used, FieldId::memory_temperature,
                           FieldId::ecc_mode, FieldId::utilization}) {
    EXPECT_EQ(read_now(opened.gpu(0), id).reason, Reason::lost) << field(id).name;
    EXPECT_TRUE(read_now(opened.gpu(1), id).ok()) << field(id).name;
  }
  std::vector<device::ProcessInfo> processes;
  EXPECT_EQ(opened.gpu(0).processes(processes).reason, Reason::lost);
}

TEST(SimulatedDriver, AGpuThatFellOffTheBusIsToldBesideTheOpenOnes) {
  Node node("hgx-h100", "");
  node.inject("xid", {"79"});
  const Opened opened = open();
  EXPECT_EQ(opened.gpus.gpus.size(), 7U);
  ASSERT_EQ(opened.gpus.unopened.size(), 1U);
  EXPECT_EQ(opened.gpus.unopened[0].reason, Reason::lost);
}

TEST(SimulatedDriver, AnXidReachesWhoeverWaits) {
  Node node("hgx-h100", "");
  const Opened opened = open();
  ASSERT_TRUE(opened.driver->wait_xid_event(Milliseconds(1)).has_value());
  node.inject("xid", {"31"});
  const auto told = opened.driver->wait_xid_event(Milliseconds(2000));
  ASSERT_TRUE(told.has_value() && told->has_value());
  EXPECT_EQ((*told)->xid, 31U);
  EXPECT_EQ((*told)->gpu, opened.gpu().info().pci);
  EXPECT_EQ(value(opened.gpu(), FieldId::last_xid), 31);
}

TEST(SimulatedDriver, ARefusedCallHasNoPermissionAndTheOthersGoOn) {
  Node node("hgx-h100", "");
  const Opened opened = open();
  node.inject("fail", {}, "nvmlDeviceGetPowerUsage", "NO_PERMISSION");
  EXPECT_EQ(read_now(opened.gpu(), FieldId::power).reason, Reason::no_permission);
  EXPECT_TRUE(read_now(opened.gpu(), FieldId::temperature).ok());
}

TEST(SimulatedDriver, AnUnloadedDriverIsGoneAndSaysWhatToDo) {
  Node node("hgx-h100", "");
  {
    const Opened opened = open();
    node.inject("driver-unload");
    EXPECT_EQ(read_now(opened.gpu(), FieldId::power).reason, Reason::driver_gone);
  }
  const auto again = Driver::open(options());
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().state, device::SourceState::driver_missing);
  node.inject("driver-load");
  EXPECT_EQ(open().gpus.gpus.size(), 8U);
}

TEST(SimulatedDriver, EachRefusalToStartIsItsOwnState) {
  {
    Node node("t4x4", "");
    node.inject("permission-denied");
    EXPECT_EQ(Driver::open(options()).error().state, device::SourceState::no_permission);
  }
  Node node("t4x4", "");
  node.inject("init-fail", {"LIB_RM_VERSION_MISMATCH"});
  EXPECT_EQ(Driver::open(options()).error().state, device::SourceState::version_mismatch);
}

TEST(SimulatedDriver, WithoutAttachOnlyTheNamedGpusAreOpened) {
  Node node("hgx-h100", "");
  DriverOptions some = options();
  {
    const Opened all = open();
    some.only = {all.gpu(2).info().pci, all.gpu(5).info().pci};
  }
  some.no_attach = true;
  const Opened opened = open(some);
  ASSERT_EQ(opened.gpus.gpus.size(), 2U);
  EXPECT_EQ(opened.gpu(0).info().index, 2U);
  EXPECT_EQ(opened.gpu(1).info().index, 5U);
}

}  // namespace
}  // namespace stoker::nvml
