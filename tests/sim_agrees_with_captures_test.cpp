// The simulated driver answers as the cards did that it imitates: every getter of a capture that the
// library exports, every field id, thresholds and links, on nodes made as `stoker sim` makes them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "device/nvml/functions.h"
#include "device/sim/load_model.h"
#include "device/sim/state_file.h"
#include "device/simnode/loads.h"
#include "device/simnode/sim_node.h"

namespace {

using nlohmann::json;
using stoker::nvml::abi::AddressingModeV1;
using stoker::nvml::abi::Attributes;
using stoker::nvml::abi::AttributesV1;
using stoker::nvml::abi::Bar1Memory;
using stoker::nvml::abi::BridgeChipHierarchy;
using stoker::nvml::abi::C2cModeInfoV1;
using stoker::nvml::abi::ClockMonitorStatus;
using stoker::nvml::abi::ClockType;
using stoker::nvml::abi::Device;
using stoker::nvml::abi::EnableState;
using stoker::nvml::abi::FanSpeedInfoV1;
using stoker::nvml::abi::FieldValue;
using stoker::nvml::abi::function_rows;
using stoker::nvml::abi::FunctionRow;
using stoker::nvml::abi::Functions;
using stoker::nvml::abi::MarginTemperatureV1;
using stoker::nvml::abi::Memory;
using stoker::nvml::abi::PciInfo;
using stoker::nvml::abi::ProcessDetailV1;
using stoker::nvml::abi::RepairStatusV1;
using stoker::nvml::abi::Return;
using stoker::nvml::abi::RowRemapperHistogram;
using stoker::nvml::abi::TemperatureSensor;
using stoker::nvml::abi::TemperatureThreshold;
using stoker::nvml::abi::Utilization;
using stoker::nvml::abi::version_tag;
using stoker::sim::LoadKind;
using stoker::sim::monotonic_ns;
using stoker::sim::Presence;
using stoker::sim::settle;
using stoker::sim::State;
using stoker::sim::StateFile;
using stoker::simnode::begin_load;
using stoker::simnode::Recipe;
using stoker::simnode::SimNode;

// ---- one overload for each shape of getter: its answer as the capture writes it

template <typename T>
json number(T value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else {
    return value;
  }
}
json number(const Memory& value) {
  return {{"total", value.total_bytes}, {"free", value.free_bytes}, {"used", value.used_bytes}};
}
json number(const Bar1Memory& value) {
  return {{"bar1Total", value.total_bytes},
          {"bar1Free", value.free_bytes},
          {"bar1Used", value.used_bytes}};
}
json number(const PciInfo& value) {
  return {{"busIdLegacy", value.bus_id_legacy},
          {"domain", value.domain},
          {"bus", value.bus},
          {"device", value.device},
          {"pciDeviceId", value.device_id},
          {"pciSubSystemId", value.subsystem_id},
          {"busId", value.bus_id}};
}
json number(const Utilization& value) {
  return {{"gpu", value.gpu_percent}, {"memory", value.memory_percent}};
}
json number(const C2cModeInfoV1& value) { return {{"isC2cEnabled", value.enabled}}; }
json number(const RowRemapperHistogram& value) {
  return {{"max", value.max},
          {"high", value.high},
          {"partial", value.partial},
          {"low", value.low},
          {"none", value.none}};
}
json number(const AddressingModeV1& value) { return value.mode; }
json number(const MarginTemperatureV1& value) { return value.celsius; }
json number(const FanSpeedInfoV1& value) { return value.rpm; }
json number(const RepairStatusV1& value) {
  return {value.channel_repair_pending, value.tpc_repair_pending};
}
json number(const Attributes& value) { return value.memory_mib; }
json number(const AttributesV1& value) { return value.multiprocessors; }
json number(const BridgeChipHierarchy& value) { return value.count; }
json number(const ClockMonitorStatus& value) { return value.count; }

template <typename T>
void put_version(T&) {}
void put_version(AddressingModeV1& value) { value.version = version_tag<AddressingModeV1>(1); }
void put_version(MarginTemperatureV1& value) {
  value.version = version_tag<MarginTemperatureV1>(1);
}
void put_version(FanSpeedInfoV1& value) { value.version = version_tag<FanSpeedInfoV1>(1); }
void put_version(RepairStatusV1& value) { value.version = version_tag<RepairStatusV1>(1); }

class Caller {
 public:
  Caller(const Functions& functions, Device device) : nvml_(functions), device_(device) {}

  template <typename T>
  json operator()(Return (*function)(Device, T*)) const {
    T value{};
    put_version(value);
    return answer(function(device_, &value), [&] { return number(value); });
  }
  json operator()(Return (*function)(Device, char*)) const {
    char text[96] = {};
    return answer(function(device_, text), [&] { return json(text); });
  }
  template <typename T>
  json operator()(Return (*function)(Device, T*, T*)) const {
    T one{};
    T other{};
    return answer(function(device_, &one, &other),
                  [&] { return json{number(one), number(other)}; });
  }
  json operator()(Return (*function)(Device, char*, unsigned)) const {
    char text[96] = {};
    return answer(function(device_, text, sizeof text), [&] { return json(text); });
  }
  json operator()(Return (*function)(Device, unsigned*, unsigned*, unsigned*)) const {
    unsigned values[3] = {};
    return answer(function(device_, values, values + 1, values + 2), [&] { return json(values); });
  }
  json operator()(Return (*function)(Device, unsigned*, unsigned*, unsigned*, unsigned*)) const {
    unsigned values[4] = {};
    return answer(function(device_, values, values + 1, values + 2, values + 3),
                  [&] { return json(values); });
  }
  // Lists: what an idle card has of processes is none.
  template <typename T>
    requires(!std::is_same_v<T, unsigned>)
  json operator()(Return (*function)(Device, unsigned*, T*)) const {
    unsigned count = 8;
    unsigned char room[8 * sizeof(ProcessDetailV1)] = {};
    return answer(function(device_, &count, reinterpret_cast<T*>(room)), [&] {
      json list = json::array();
      for (unsigned i = 0; i < count; ++i) list.push_back("entry");
      return list;
    });
  }
  json clocks() const {
    unsigned count = 16;
    unsigned mhz[16] = {};
    return answer(nvml_.nvmlDeviceGetSupportedMemoryClocks(device_, &count, mhz),
                  [&] { return json(std::vector<unsigned>(mhz, mhz + count)); });
  }
  json accounted() const {
    unsigned count = 0;
    return answer(nvml_.nvmlDeviceGetAccountingPids(device_, &count, nullptr),
                  [] { return json::array(); });
  }
  template <typename Value>
  json answer(Return code, Value value) const {
    if (code == Return::success) return {{"v", value()}};
    return {{"err", nvml_.nvmlErrorString(code)}};
  }
  [[nodiscard]] const Functions& nvml() const { return nvml_; }
  [[nodiscard]] Device device() const { return device_; }

 private:
  const Functions& nvml_;
  Device device_;
};

using Ask = json (*)(const Caller&);
const std::map<std::string, Ask>& getters() {
#define GETTER(name) {#name, [](const Caller& ask) { return ask(ask.nvml().name); }}
  static const std::map<std::string, Ask> all = {
      GETTER(nvmlDeviceGetAccountingBufferSize),
      GETTER(nvmlDeviceGetAccountingMode),
      GETTER(nvmlDeviceGetAdaptiveClockInfoStatus),
      GETTER(nvmlDeviceGetAddressingMode),
      GETTER(nvmlDeviceGetArchitecture),
      GETTER(nvmlDeviceGetAttributes),
      GETTER(nvmlDeviceGetAttributes_v2),
      GETTER(nvmlDeviceGetAutoBoostedClocksEnabled),
      GETTER(nvmlDeviceGetBAR1MemoryInfo),
      GETTER(nvmlDeviceGetBoardId),
      GETTER(nvmlDeviceGetBoardPartNumber),
      GETTER(nvmlDeviceGetBrand),
      GETTER(nvmlDeviceGetBridgeChipInfo),
      GETTER(nvmlDeviceGetBusType),
      GETTER(nvmlDeviceGetC2cModeInfoV),
      GETTER(nvmlDeviceGetClkMonStatus),
      GETTER(nvmlDeviceGetComputeInstanceId),
      GETTER(nvmlDeviceGetComputeMode),
      GETTER(nvmlDeviceGetComputeRunningProcesses),
      GETTER(nvmlDeviceGetComputeRunningProcesses_v2),
      GETTER(nvmlDeviceGetComputeRunningProcesses_v3),
      GETTER(nvmlDeviceGetCudaComputeCapability),
      GETTER(nvmlDeviceGetCurrPcieLinkGeneration),
      GETTER(nvmlDeviceGetCurrPcieLinkWidth),
      GETTER(nvmlDeviceGetCurrentClocksEventReasons),
      GETTER(nvmlDeviceGetCurrentClocksThrottleReasons),
      GETTER(nvmlDeviceGetDecoderUtilization),
      GETTER(nvmlDeviceGetDisplayActive),
      GETTER(nvmlDeviceGetDisplayMode),
      GETTER(nvmlDeviceGetDriverModel),
      GETTER(nvmlDeviceGetDriverModel_v2),
      GETTER(nvmlDeviceGetEccMode),
      GETTER(nvmlDeviceGetEncoderStats),
      GETTER(nvmlDeviceGetEncoderUtilization),
      GETTER(nvmlDeviceGetEnforcedPowerLimit),
      GETTER(nvmlDeviceGetFanSpeed),
      GETTER(nvmlDeviceGetFanSpeedRPM),
      GETTER(nvmlDeviceGetGpuInstanceId),
      GETTER(nvmlDeviceGetGpuMaxPcieLinkGeneration),
      GETTER(nvmlDeviceGetGpuOperationMode),
      GETTER(nvmlDeviceGetGraphicsRunningProcesses),
      GETTER(nvmlDeviceGetGraphicsRunningProcesses_v2),
      GETTER(nvmlDeviceGetGraphicsRunningProcesses_v3),
      GETTER(nvmlDeviceGetGspFirmwareMode),
      GETTER(nvmlDeviceGetGspFirmwareVersion),
      GETTER(nvmlDeviceGetIndex),
      GETTER(nvmlDeviceGetInforomConfigurationChecksum),
      GETTER(nvmlDeviceGetInforomImageVersion),
      GETTER(nvmlDeviceGetIrqNum),
      GETTER(nvmlDeviceGetJpgUtilization),
      GETTER(nvmlDeviceGetMPSComputeRunningProcesses),
      GETTER(nvmlDeviceGetMPSComputeRunningProcesses_v2),
      GETTER(nvmlDeviceGetMPSComputeRunningProcesses_v3),
      GETTER(nvmlDeviceGetMarginTemperature),
      GETTER(nvmlDeviceGetMaxMigDeviceCount),
      GETTER(nvmlDeviceGetMaxPcieLinkGeneration),
      GETTER(nvmlDeviceGetMaxPcieLinkWidth),
      GETTER(nvmlDeviceGetMemoryBusWidth),
      GETTER(nvmlDeviceGetMemoryInfo),
      GETTER(nvmlDeviceGetMigMode),
      GETTER(nvmlDeviceGetMinMaxFanSpeed),
      GETTER(nvmlDeviceGetMinorNumber),
      GETTER(nvmlDeviceGetModuleId),
      GETTER(nvmlDeviceGetMultiGpuBoard),
      GETTER(nvmlDeviceGetName),
      GETTER(nvmlDeviceGetNumFans),
      GETTER(nvmlDeviceGetNumGpuCores),
      GETTER(nvmlDeviceGetNumaNodeId),
      GETTER(nvmlDeviceGetOfaUtilization),
      GETTER(nvmlDeviceGetPciInfo),
      GETTER(nvmlDeviceGetPciInfo_v3),
      GETTER(nvmlDeviceGetPcieLinkMaxSpeed),
      GETTER(nvmlDeviceGetPcieReplayCounter),
      GETTER(nvmlDeviceGetPcieSpeed),
      GETTER(nvmlDeviceGetPerformanceState),
      GETTER(nvmlDeviceGetPersistenceMode),
      GETTER(nvmlDeviceGetPowerManagementDefaultLimit),
      GETTER(nvmlDeviceGetPowerManagementLimit),
      GETTER(nvmlDeviceGetPowerManagementLimitConstraints),
      GETTER(nvmlDeviceGetPowerManagementMode),
      GETTER(nvmlDeviceGetPowerSource),
      GETTER(nvmlDeviceGetPowerState),
      GETTER(nvmlDeviceGetPowerUsage),
      GETTER(nvmlDeviceGetRemappedRows),
      GETTER(nvmlDeviceGetRepairStatus),
      GETTER(nvmlDeviceGetRetiredPagesPendingStatus),
      GETTER(nvmlDeviceGetRowRemapperHistogram),
      GETTER(nvmlDeviceGetSerial),
      GETTER(nvmlDeviceGetSupportedClocksEventReasons),
      GETTER(nvmlDeviceGetSupportedClocksThrottleReasons),
      GETTER(nvmlDeviceGetSupportedEventTypes),
      GETTER(nvmlDeviceGetTotalEnergyConsumption),
      GETTER(nvmlDeviceGetUUID),
      GETTER(nvmlDeviceGetUtilizationRates),
      GETTER(nvmlDeviceGetVbiosVersion),
      GETTER(nvmlDeviceGetVirtualizationMode),
      {"nvmlDeviceGetAccountingPids", [](const Caller& ask) { return ask.accounted(); }},
      {"nvmlDeviceGetSupportedMemoryClocks", [](const Caller& ask) { return ask.clocks(); }},
      {"nvmlDeviceGetDefaultEccMode",
       [](const Caller& ask) {
         json one = ask(ask.nvml().nvmlDeviceGetDefaultEccMode);
         if (one.contains("v")) one["v"] = json::array({one["v"]});
         return one;
       }},
  };
#undef GETTER
  return all;
}

// ---- what may differ, and why

// Another card's or another moment's: the shape must agree, not the value.
const std::set<std::string> of_the_moment = {
    "nvmlDeviceGetUUID", "nvmlDeviceGetSerial",              // replaced in the captures
    "nvmlDeviceGetTotalEnergyConsumption",                   // since the driver was loaded
    "nvmlDeviceGetPcieReplayCounter", "nvmlDeviceGetIrqNum"  // of that machine's past and board
};
// Values of an idle card that move: they must be this close (share of the captured value).
const std::map<std::string, double> close_to = {{"nvmlDeviceGetPowerUsage", 0.15},
                                                {"nvmlDeviceGetMarginTemperature", 0.06}};
// Not modelled in full: see the library's source.
const std::set<std::string> not_compared = {
    "nvmlDeviceGetDynamicPstatesInfo",         // read by no client of ours
    "nvmlDeviceGetSupportedPerformanceStates"  // the capture lists P2, which no load was seen in
};

class SimAgreesWithCaptures : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "stoker_captures_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    void* library = ::dlopen(STOKER_BINARY_DIR "/lib/libstoker_sim_nvml.so", RTLD_NOW);
    ASSERT_NE(library, nullptr) << ::dlerror();
    for (const FunctionRow& row : function_rows()) {
      void* symbol = ::dlsym(library, row.symbol.data());
      std::memcpy(reinterpret_cast<char*>(&nvml_) + row.offset, &symbol, sizeof symbol);
    }
  }
  void TearDown() override {
    while (nvml_.nvmlShutdown() == Return::success) {
    }
    std::filesystem::remove_all(folder_);
  }

  // Starts the library on a node of that recipe and loads the capture of that folder.
  void start(const Recipe& recipe, const std::string& capture) {
    const auto node = SimNode::create(recipe, folder_.string());
    ASSERT_TRUE(node) << node.error().describe();
    settle_all(node->state_file());
    ::setenv(stoker::sim::state_path_variable, node->state_file().c_str(), 1);
    ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success);
    std::ifstream file(STOKER_SOURCE_DIR "/tests/fixtures/captures/" + capture + "/nvml.json");
    capture_ = json::parse(file);
    unsigned count = 0;
    ASSERT_EQ(nvml_.nvmlDeviceGetCount_v2(&count), Return::success);
    ASSERT_EQ(count, capture_["gpus"].size());
  }
  // The captured cards had rested; the profile's have been at work since they were made.
  static void settle_all(const std::string& state_file) {
    auto state = StateFile::open(state_file, StateFile::Access::write);
    ASSERT_TRUE(state) << state.error().describe();
    const auto settled = state->write([](State& all) {
      for (std::uint32_t row = 0; row < std::size(all.gpus); ++row) {
        if (all.gpus[row].presence == Presence::absent) continue;
        begin_load(all.gpus[row], row, LoadKind::idle, row, monotonic_ns(all.clock));
        settle(all.gpus[row], monotonic_ns(all.clock));
        std::ranges::fill(all.gpus[row].power.violation_ns, 0);
      }
    });
    ASSERT_TRUE(settled) << settled.error().describe();
  }
  std::string write_machine(const std::string& text) {
    const std::string path = (folder_ / "machine.yaml").string();
    std::ofstream(path) << text;
    return path;
  }

  void compare_all() {
    for (unsigned index = 0; index < capture_["gpus"].size(); ++index) {
      SCOPED_TRACE("GPU " + std::to_string(index));
      Device device = nullptr;
      ASSERT_EQ(nvml_.nvmlDeviceGetHandleByIndex_v2(index, &device), Return::success);
      const Caller ask(nvml_, device);
      compare_getters(ask, capture_["gpus"][index]["getters"]);
      compare_extras(ask, capture_["gpus"][index]["extra"]);
      compare_fields(ask, capture_["gpus"][index]["extra"]["fieldvalues"]);
    }
  }

 private:
  static void compare_getters(const Caller& ask, const json& captured) {
    for (const auto& [name, expected] : captured.items()) {
      if (not_compared.contains(name)) continue;
      const auto getter = getters().find(name);
      ASSERT_NE(getter, getters().end()) << name << " is in the capture, but not in this test";
      const json found = getter->second(ask);
      if (of_the_moment.contains(name) && expected.contains("v")) {
        EXPECT_EQ(found["v"].type(), expected["v"].type()) << name << ": " << found;
      } else if (const auto bound = close_to.find(name); bound != close_to.end()) {
        const double value = expected["v"].get<double>();
        EXPECT_NEAR(found["v"].get<double>(), value, value * bound->second) << name;
      } else {
        EXPECT_EQ(found, expected) << name;
      }
    }
  }

  void compare_extras(const Caller& ask, const json& captured) const {
    for (unsigned i = 0; i < 8; ++i) {
      unsigned limit = 0;
      const Return code = nvml_.nvmlDeviceGetTemperatureThreshold(
          ask.device(), static_cast<TemperatureThreshold>(i), &limit);
      EXPECT_EQ(ask.answer(code, [&] { return limit; }), captured["thresh" + std::to_string(i)])
          << "threshold " << i;
    }
    for (unsigned i = 0; i < 4; ++i) {
      unsigned mhz = 0;
      const Return code =
          nvml_.nvmlDeviceGetMaxClockInfo(ask.device(), static_cast<ClockType>(i), &mhz);
      EXPECT_EQ(ask.answer(code, [&] { return mhz; }), captured["maxclock" + std::to_string(i)])
          << "highest clock " << i;
    }
    for (unsigned link = 0; link < 18; ++link) {
      EnableState active{};
      PciInfo remote{};
      const Return state = nvml_.nvmlDeviceGetNvLinkState(ask.device(), link, &active);
      const Return pci = nvml_.nvmlDeviceGetNvLinkRemotePciInfo_v2(ask.device(), link, &remote);
      EXPECT_EQ(ask.answer(state, [&] { return number(active); }),
                captured["nvl" + std::to_string(link)])
          << "link " << link;
      EXPECT_EQ(ask.answer(pci, [&] { return number(remote); }),
                captured["nvlrem" + std::to_string(link)])
          << "link " << link;
    }
    unsigned celsius = 0;
    ASSERT_EQ(nvml_.nvmlDeviceGetTemperature(ask.device(), TemperatureSensor::gpu, &celsius),
              Return::success);
    EXPECT_NEAR(celsius, captured["temp"]["v"].get<int>(), 2);
  }

  // Counters that have run on the captured machine, and power and heat of that moment.
  static bool field_of_the_moment(unsigned id) {
    constexpr unsigned counters[] = {75,  78,  80,  81,  83,  94,  140, 141, 169, 173, 174, 175,
                                     176, 177, 178, 179, 180, 181, 182, 183, 191, 197, 198};
    constexpr unsigned gauges[] = {82, 185, 186};
    return std::find(std::begin(counters), std::end(counters), id) != std::end(counters) ||
           std::find(std::begin(gauges), std::end(gauges), id) != std::end(gauges);
  }

  // The capture's buffer was zeroed before the call, so what the driver left alone reads 0, 0.
  void compare_fields(const Caller& ask, const json& captured) const {
    for (const auto& [text, expected] : captured.items()) {
      FieldValue value{};
      value.field_id = static_cast<std::uint32_t>(std::stoul(text));
      ASSERT_EQ(nvml_.nvmlDeviceGetFieldValues(ask.device(), 1, &value), Return::success);
      EXPECT_EQ(number(value.status), expected[0]) << "field " << text;
      if (value.status != Return::success) continue;
      EXPECT_EQ(number(value.type), expected[1]) << "field " << text;
      if (field_of_the_moment(value.field_id)) continue;
      EXPECT_EQ(value.value.as_unsigned_long_long, expected[2].get<double>()) << "field " << text;
    }
  }

  std::filesystem::path folder_;
  Functions nvml_;
  json capture_;
};

TEST_F(SimAgreesWithCaptures, OnFourH200) {
  start(Recipe{.profile = "hgx-h200x4"}, "h200x4");
  compare_all();
}

TEST_F(SimAgreesWithCaptures, OnOneH100) {
  const std::string machine = write_machine(R"(description: VM with one H100, as captured
driver: 580.159.04
cuda: 13000
virtual: true
numa: ["0-15"]
gpus:
  - {product: h100-80gb, pci: "0000:00:06.0", numa: 0, module: 4}
)");
  start(Recipe{.machine_file = machine}, "h100x1");
  compare_all();
}

}  // namespace
