#include "device/nvml/driver.h"

#include <algorithm>

#include "device/nvml/fake_library_test_support.h"

namespace stoker::nvml {
namespace {

using abi::Return;
using device::SourceState;

DriverFailure failure_of(Return code) {
  Library library = fake::library();
  fake::world.init = code;
  auto driver = open_driver(std::move(library), {});
  EXPECT_FALSE(driver.has_value());
  return driver.has_value() ? DriverFailure{} : driver.error();
}

TEST(Driver, EachWayNotToStartIsAStateAndAdvice) {
  EXPECT_EQ(failure_of(Return::driver_not_loaded).state, SourceState::driver_missing);
  EXPECT_EQ(failure_of(Return::lib_rm_version_mismatch).state, SourceState::version_mismatch);
  EXPECT_EQ(failure_of(Return::no_permission).state, SourceState::no_permission);
  EXPECT_EQ(failure_of(Return::operating_system).state, SourceState::no_permission);
  EXPECT_EQ(failure_of(Return::library_not_found).state, SourceState::library_missing);
  EXPECT_EQ(failure_of(Return::unknown).state, SourceState::failed);
  EXPECT_NE(failure_of(Return::driver_not_loaded).text.find("modprobe nvidia"), std::string::npos);
  EXPECT_NE(failure_of(Return::unknown).text.find("999"), std::string::npos);
}

TEST(Driver, ALibraryThatIsNowhereIsMissingAndSaysWhereItLooked) {
  DriverOptions options;
  options.library = "/nowhere/libnvidia-ml.so.1";
  const auto driver = Driver::open(options);
  ASSERT_FALSE(driver.has_value());
  EXPECT_EQ(driver.error().state, SourceState::library_missing);
  EXPECT_NE(driver.error().text.find("/nowhere/libnvidia-ml.so.1"), std::string::npos);
}

TEST(Driver, ALibraryThatIsNotNvmlIsRefusedByName) {
  DriverOptions options;
  options.library = "libm.so.6";
  const auto driver = Driver::open(options);
  ASSERT_FALSE(driver.has_value());
  EXPECT_EQ(driver.error().state, SourceState::failed);
  EXPECT_NE(driver.error().text.find("nvmlInit_v2"), std::string::npos);
}

TEST(Driver, ItSaysWhatItIsAndShutsDownWhenItGoes) {
  {
    Library library = fake::library();
    library.functions.nvmlSystemGetCudaDriverVersion_v2 = [](int* version) {
      *version = 13000;
      return Return::success;
    };
    library.simulated = true;
    const auto opened = fake::open(std::move(library));
    EXPECT_EQ(opened.driver->info().driver_version, "580.159.04");
    EXPECT_EQ(opened.driver->info().nvml_version, "13.580.159.04");
    EXPECT_EQ(opened.driver->info().cuda_version, 13000);
    EXPECT_TRUE(opened.driver->info().simulated);
    EXPECT_EQ(fake::world.shutdowns, 0);
  }
  EXPECT_EQ(fake::world.shutdowns, 1);
}

TEST(Driver, WithoutAttachItOpensByAddressAndTouchesNoOtherGpu) {
  Library library = fake::library();
  fake::world.gpus = 4;
  library.functions.nvmlDeviceGetHandleByIndex_v2 = [](unsigned, abi::Device*) {
    ADD_FAILURE() << "opened by index";
    return Return::unknown;
  };
  DriverOptions options;
  options.no_attach = true;
  options.only = {PciAddress{0, 3, 0, 0}, PciAddress{0, 9, 0, 0}};
  const auto opened = fake::open(std::move(library), options);
  EXPECT_EQ(fake::world.init_flags & abi::init_flag_no_attach, abi::init_flag_no_attach);
  ASSERT_EQ(opened.gpus.gpus.size(), 1U);
  EXPECT_EQ(opened.gpu().info().pci, (PciAddress{0, 3, 0, 0}));
  ASSERT_EQ(opened.gpus.unopened.size(), 1U);
  EXPECT_EQ(opened.gpus.unopened[0].pci, (PciAddress{0, 9, 0, 0}));
  EXPECT_EQ(opened.gpus.unopened[0].reason, Reason::lost);
}

TEST(Driver, WhoseNoAttachLeavesNoGpuToOpenIsStartedAgainWithoutIt) {
  Library library = fake::library();
  library.functions.nvmlDeviceGetCount_v2 = [](unsigned* count) {
    *count = (fake::world.init_flags & abi::init_flag_no_attach) != 0 ? 0 : 1;
    return Return::success;
  };
  DriverOptions options;
  options.no_attach = true;
  options.only = {PciAddress{0, 0, 0, 0}};
  const auto opened = fake::open(std::move(library), options);
  EXPECT_EQ(fake::world.init_flags, abi::init_flag_no_gpus);
  EXPECT_EQ(fake::world.shutdowns, 1);
  EXPECT_EQ(opened.gpus.gpus.size(), 1U);
}

TEST(Driver, AGpuThatCanNotBeOpenedIsToldBesideTheOthers) {
  Library library = fake::library();
  fake::world.gpus = 4;
  library.functions.nvmlDeviceGetHandleByIndex_v2 = [](unsigned index, abi::Device* device) {
    *device = fake::device_at(index);
    return index == 1 ? Return::gpu_is_lost : Return::success;
  };
  library.functions.nvmlDeviceGetUUID = [](abi::Device device, char* text, unsigned length) {
    if (fake::index_of(device) == 3) return Return::operating_system;
    return fake::index_of(device) == 2 ? Return::no_permission : fake::copy("GPU-x", text, length);
  };
  const auto opened = fake::open(std::move(library));
  ASSERT_EQ(opened.gpus.gpus.size(), 1U);
  EXPECT_EQ(opened.gpu().info().index, 0U);
  ASSERT_EQ(opened.gpus.unopened.size(), 3U);
  EXPECT_EQ(opened.gpus.unopened[2].reason, Reason::no_permission);
  EXPECT_EQ(opened.gpus.unopened[0].index, 1U);
  EXPECT_EQ(opened.gpus.unopened[0].reason, Reason::lost);
  EXPECT_EQ(opened.gpus.unopened[1].reason, Reason::no_permission);
  EXPECT_EQ(opened.gpus.unopened[1].pci, (PciAddress{0, 2, 0, 0}));
}

TEST(Driver, AFunctionWhoseLayoutIsNotKnownInThisDriverIsNotCalled) {
  Library library = fake::library();
  fake::world.driver_version = "470.223.02";
  library.functions.nvmlDeviceGetMemoryInfo_v2 = [](abi::Device, abi::MemoryV2*) {
    ADD_FAILURE() << "470 has no second version of the memory struct";
    return Return::success;
  };
  library.functions.nvmlDeviceGetMemoryInfo = [](abi::Device, abi::Memory* memory) {
    *memory = {1000, 400, 600};
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(fake::read(opened.gpu(), FieldId::memory_used).value, Value(std::int64_t{600}));
  EXPECT_EQ(fake::read(opened.gpu(), FieldId::memory_reserved).reason, Reason::not_supported);
  const auto& notes = opened.driver->info().abi_notes;
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note.find("nvmlDeviceGetMemoryInfo_v2") != std::string::npos;
  }));
}

TEST(Driver, AVersionThatCanNotBeReadIsNotedAndStopsNothing) {
  Library library = fake::library();
  fake::world.driver_version = "r999-internal";
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(opened.gpus.gpus.size(), 1U);
  const auto& notes = opened.driver->info().abi_notes;
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note.find("r999-internal") != std::string::npos;
  }));
}

}  // namespace
}  // namespace stoker::nvml
