#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "device/sim/library/library_test_support.h"

namespace stoker::sim {
namespace {

using nvml::abi::init_flag_no_attach;
using nvml::abi::init_flag_no_gpus;

class Session : public LibraryTest {
 protected:
  void SetUp() override {}
  unsigned count() {
    unsigned gpus = 0;
    EXPECT_EQ(nvml_.nvmlDeviceGetCount_v2(&gpus), Return::success);
    return gpus;
  }
};

TEST_F(Session, ExportsEveryFunctionOfTheListAndSaysThatItIsSimulated) {
  for (const nvml::abi::FunctionRow& row : nvml::abi::function_rows()) {
    void* pointer = nullptr;
    std::memcpy(&pointer, reinterpret_cast<const char*>(&nvml_) + row.offset, sizeof pointer);
    EXPECT_NE(pointer, nullptr) << row.symbol;
  }
  void* library = ::dlopen(STOKER_BINARY_DIR "/lib/libstoker_sim_nvml.so", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  auto* marker = reinterpret_cast<int (*)()>(::dlsym(library, "stokerSimulatedDriver"));
  ASSERT_NE(marker, nullptr);
  EXPECT_EQ(marker(), 1);
  EXPECT_EQ(::dlsym(library, "_ZN6stoker3sim15current_sessionEv"), nullptr);
}

TEST_F(Session, AnswersUninitializedBeforeInitAndAfterTheLastShutdown) {
  unsigned gpus = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetCount_v2(&gpus), Return::uninitialized);
  EXPECT_EQ(nvml_.nvmlShutdown(), Return::uninitialized);
  ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success);
  ASSERT_EQ(nvml_.nvmlInitWithFlags(0), Return::success);
  EXPECT_EQ(nvml_.nvmlShutdown(), Return::success);
  EXPECT_EQ(count(), 2U);
  EXPECT_EQ(nvml_.nvmlShutdown(), Return::success);
  EXPECT_EQ(nvml_.nvmlDeviceGetCount_v2(&gpus), Return::uninitialized);
}

TEST_F(Session, NeedsAStateToTalkTo) {
  ::unsetenv(state_path_variable);
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::library_not_found);
  ::setenv(state_path_variable, "/nonexistent/state", 1);
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::driver_not_loaded);
  const std::string junk = state_.folder() + "/junk";
  std::ofstream(junk) << std::string(100, 'x');
  ::setenv(state_path_variable, junk.c_str(), 1);
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::unknown);
  state_.change([](State& all) { all.header.layout = state_layout + 1; });
  ::setenv(state_path_variable, state_.path().c_str(), 1);
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::lib_rm_version_mismatch);
}

TEST_F(Session, AnswersNoPermissionWhereTheStateMayNotBeRead) {
  ::chmod(state_.path().c_str(), 0);
  EXPECT_EQ(answer_to_nobody([&] { return nvml_.nvmlInit_v2(); }), Return::no_permission);
}

TEST_F(Session, RefusesToStartAsTheDriverOrders) {
  change_driver([](Driver& driver) { driver.loaded = 0; });
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::driver_not_loaded);
  change_driver([](Driver& driver) { driver.loaded = driver.permission_denied = 1; });
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::no_permission);
  change_driver([](Driver& driver) {
    driver.permission_denied = 0;
    driver.init_code = 18;
  });
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::lib_rm_version_mismatch);
  change_driver([](Driver& driver) { driver.init_code = 0; });
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::success);
}

TEST_F(Session, FindsNoGpusOnlyWhereThatIsAllowed) {
  state_.change([](State& all) {
    for (Gpu& gpu : all.gpus) gpu.presence = Presence::absent;
  });
  EXPECT_EQ(nvml_.nvmlInit_v2(), Return::not_found);
  ASSERT_EQ(nvml_.nvmlInitWithFlags(init_flag_no_gpus), Return::success);
  EXPECT_EQ(count(), 0U);
}

TEST_F(Session, AnswersNothingMoreOnceTheDriverIsUnloadedUntilItStartsAnew) {
  ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success);
  const Device one = device();
  change_driver([](Driver& driver) { driver.loaded = 0; });
  EXPECT_EQ(ask(one), Return::driver_not_loaded);
  change_driver([](Driver& driver) {
    driver.loaded = 1;
    ++driver.load_count;
  });
  EXPECT_EQ(ask(one), Return::driver_not_loaded);
  EXPECT_EQ(nvml_.nvmlShutdown(), Return::success);
  ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success);
  EXPECT_EQ(ask(device()), Return::success);
}

TEST_F(Session, CountsALostGpuAndNotOneThatVanished) {
  state_.change([](State& all) { all.gpus[0].presence = Presence::lost; });
  ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success);
  EXPECT_EQ(count(), 2U);
  Device one = nullptr;
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByIndex_v2(0, &one), Return::gpu_is_lost);
  EXPECT_EQ(nvml_.nvmlShutdown(), Return::success);
  state_.change([](State& all) { all.gpus[0].presence = Presence::vanished; });
  ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success);
  EXPECT_EQ(count(), 1U);
  char uuid[nvml::abi::uuid_size];
  ASSERT_EQ(nvml_.nvmlDeviceGetUUID(device(0), uuid, sizeof uuid), Return::success);
  EXPECT_STREQ(uuid, "GPU-000000a0-0000-4000-8000-000000000001");
}

TEST_F(Session, KeepsAnOldHandleLostAfterTheGpuCameBack) {
  ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success);
  const Device one = device(0);
  const Device other = device(1);
  state_.change([](State& all) { all.gpus[0].presence = Presence::vanished; });
  EXPECT_EQ(ask(one), Return::gpu_is_lost);
  EXPECT_EQ(ask(other), Return::success);
  state_.change([](State& all) {
    all.gpus[0].presence = Presence::present;
    ++all.gpus[0].incarnation;
  });
  EXPECT_EQ(ask(one), Return::gpu_is_lost);
  EXPECT_EQ(nvml_.nvmlShutdown(), Return::success);
  ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success);
  EXPECT_EQ(ask(device(0)), Return::success);
}

TEST_F(Session, HandsOutTheSameHandleForTheSameGpu) {
  ASSERT_EQ(nvml_.nvmlInitWithFlags(init_flag_no_attach), Return::success);
  const Device by_index = device(1);
  Device by_address = nullptr;
  Device by_uuid = nullptr;
  Device by_serial = nullptr;
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByPciBusId_v2("0000:11:00.0", &by_address), Return::success);
  EXPECT_EQ(by_address, by_index);
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByPciBusId_v2("00000000:11:00.0", &by_address),
            Return::success);
  EXPECT_EQ(by_address, by_index);
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByUUID("GPU-000000a0-0000-4000-8000-000000000001", &by_uuid),
            Return::success);
  EXPECT_EQ(by_uuid, by_index);
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleBySerial("1650000000001", &by_serial), Return::success);
  EXPECT_EQ(by_serial, by_index);
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByPciBusId_v2("0000:77:00.0", &by_address), Return::not_found);
  EXPECT_EQ(nvml_.nvmlDeviceGetHandleByPciBusId_v2("rubbish", &by_address),
            Return::invalid_argument);
}

}  // namespace
}  // namespace stoker::sim
