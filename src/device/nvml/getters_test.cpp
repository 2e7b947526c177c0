#include "device/nvml/getters.h"

#include <set>

#include "device/nvml/fake_library_test_support.h"

namespace stoker::nvml {
namespace {

using abi::Device;
using abi::Return;
using fake::read;

TEST(Getters, HaveOneRowEachAndCoverTheFieldTable) {
  std::set<Getter> rows;
  for (const GetterRow& row : getter_rows()) EXPECT_TRUE(rows.insert(row.getter).second);
  const std::set<Getter> elsewhere{Getter::derived, Getter::node_cpu, Getter::node_memory,
                                   Getter::node_filesystem};
  for (const Field& field : all_fields()) {
    EXPECT_EQ(rows.contains(field.getter), !elsewhere.contains(field.getter)) << field.name;
  }
}

TEST(Getters, NameFunctionsThatAreDeclared) {
  std::set<std::string_view> declared;
  for (const abi::FunctionRow& row : abi::function_rows()) declared.insert(row.symbol);
  for (const GetterRow& row : getter_rows()) {
    std::string_view rest = row.symbols;
    while (!rest.empty()) {
      const std::string_view symbol = rest.substr(0, rest.find(' '));
      EXPECT_TRUE(declared.contains(symbol)) << symbol;
      rest.remove_prefix(std::min(rest.size(), symbol.size() + 1));
    }
  }
}

TEST(Getters, EveryFieldOfALibraryWithoutFunctionsHasAReason) {
  const auto opened = fake::open(fake::library());
  for (const Field& field : all_fields()) {
    if (find_getter(field.getter) == nullptr || field.entity == EntityKind::nvlink) continue;
    const Reading reading = read(opened.gpu(), field.id);
    EXPECT_EQ(reading.reason, Reason::not_supported) << field.name;
  }
}

TEST(Getters, UnitsAreThoseOfTheField) {
  Library library = fake::library();
  library.functions.nvmlDeviceGetPowerUsage = [](Device, unsigned* milliwatts) {
    *milliwatts = 77837;
    return Return::success;
  };
  library.functions.nvmlDeviceGetTotalEnergyConsumption = [](Device, std::uint64_t* millijoules) {
    *millijoules = 2729033;
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(read(opened.gpu(), FieldId::power).value, Value(77.837));
  EXPECT_EQ(read(opened.gpu(), FieldId::energy_driver).value, Value(2729.033));
}

TEST(Getters, MemoryIsOneCallForAllItsFields) {
  Library library = fake::library();
  static int calls;
  calls = 0;
  library.functions.nvmlDeviceGetMemoryInfo_v2 = [](Device, abi::MemoryV2* memory) {
    ++calls;
    EXPECT_EQ(memory->version, abi::version_tag<abi::MemoryV2>(2));
    memory->total_bytes = 100;
    memory->reserved_bytes = 5;
    memory->free_bytes = 60;
    memory->used_bytes = 35;
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  const Fields fields{&field(FieldId::memory_total), &field(FieldId::memory_free),
                      &field(FieldId::memory_used), &field(FieldId::memory_reserved)};
  Readings out;
  calls = 0;
  opened.gpu().read(Getter::memory_info, fields, out);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out[0].reading.value, Value(std::int64_t{100}));
  EXPECT_EQ(out[1].reading.value, Value(std::int64_t{60}));
  EXPECT_EQ(out[2].reading.value, Value(std::int64_t{35}));
  EXPECT_EQ(out[3].reading.value, Value(std::int64_t{5}));
}

TEST(Getters, WhatIsPhysicallyImpossibleIsInvalidAndNeverClamped) {
  Library library = fake::library();
  // NVIDIA/DCGM#199.
  library.functions.nvmlDeviceGetUtilizationRates = [](Device, abi::Utilization* rates) {
    *rates = {4294967295U, 101};
    return Return::success;
  };
  library.functions.nvmlDeviceGetTemperature = [](Device, abi::TemperatureSensor, unsigned* value) {
    *value = 255;
    return Return::success;
  };
  library.functions.nvmlDeviceGetPowerUsage = [](Device, unsigned* milliwatts) {
    *milliwatts = 4294967295U;
    return Return::success;
  };
  library.functions.nvmlDeviceGetMemoryInfo_v2 = [](Device, abi::MemoryV2* memory) {
    memory->total_bytes = 100;
    memory->free_bytes = 101;
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  for (const FieldId id : {FieldId::utilization, FieldId::memory_utilization, FieldId::temperature,
                           FieldId::power, FieldId::memory_free}) {
    EXPECT_EQ(read(opened.gpu(), id).reason, Reason::invalid) << field(id).name;
  }
}

TEST(Getters, ATemperatureBelowZeroIsCold) {
  Library library = fake::library();
  library.functions.nvmlDeviceGetTemperature = [](Device, abi::TemperatureSensor, unsigned* value) {
    *value = static_cast<unsigned>(-5);
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(read(opened.gpu(), FieldId::temperature).value, Value(std::int64_t{-5}));
}

TEST(Getters, ReturnCodesBecomeReasons) {
  static Return code;
  Library library = fake::library();
  library.functions.nvmlDeviceGetPowerUsage = [](Device, unsigned*) { return code; };
  const auto opened = fake::open(std::move(library));
  const std::pair<Return, Reason> expected[] = {
      {Return::not_supported, Reason::not_supported},
      {Return::no_permission, Reason::no_permission},
      {Return::gpu_is_lost, Reason::lost},
      {Return::uninitialized, Reason::driver_gone},
      {Return::driver_not_loaded, Reason::driver_gone},
      {Return::lib_rm_version_mismatch, Reason::driver_gone},
      {Return::no_data, Reason::pending},
      {Return::reset_required, Reason::failed},
      {Return::unknown, Reason::failed},
      {static_cast<Return>(77), Reason::failed},
  };
  for (const auto& [answer, reason] : expected) {
    code = answer;
    EXPECT_EQ(read(opened.gpu(), FieldId::power).reason, reason) << static_cast<int>(answer);
  }
}

TEST(Getters, EveryReadingTellsWhenAndHowLong) {
  static ManualClock clock;
  Library library = fake::library();
  library.functions.nvmlDeviceGetPowerUsage = [](Device, unsigned* milliwatts) {
    clock.advance(Milliseconds(3));
    *milliwatts = 1000;
    return Return::success;
  };
  DriverOptions options;
  options.clock = &clock;
  const auto opened = fake::open(std::move(library), options);
  const Reading reading = read(opened.gpu(), FieldId::power);
  EXPECT_EQ(reading.took, Milliseconds(3));
  EXPECT_EQ(reading.taken_at, clock.monotonic());
}

TEST(Getters, ThrottleReasonsAreReadUnderTheirOldNameWhereTheNewOneIsMissing) {
  Library library = fake::library();
  library.functions.nvmlDeviceGetCurrentClocksThrottleReasons = [](Device, std::uint64_t* mask) {
    *mask = 0x40;
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(read(opened.gpu(), FieldId::throttle_reasons).value, Value(std::int64_t{0x40}));
}

TEST(Getters, ACardThatIsNoVgpuHoldsNoLicence) {
  static abi::VirtualizationMode mode;
  Library library = fake::library();
  library.functions.nvmlDeviceGetVirtualizationMode = [](Device, abi::VirtualizationMode* told) {
    *told = mode;
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  mode = abi::VirtualizationMode::passthrough;
  EXPECT_EQ(read(opened.gpu(), FieldId::vgpu_license).value, Value(std::int64_t{0}));
  mode = abi::VirtualizationMode::vgpu;
  EXPECT_EQ(read(opened.gpu(), FieldId::vgpu_license).reason, Reason::no_source);
}

TEST(Getters, RetiredPagesAreCountedWithoutTheirAddresses) {
  Library library = fake::library();
  library.functions.nvmlDeviceGetRetiredPages = [](Device, abi::PageRetirementCause cause,
                                                   unsigned* count, std::uint64_t* addresses) {
    EXPECT_EQ(addresses, nullptr);
    *count = cause == abi::PageRetirementCause::double_bit ? 3 : 0;
    return *count == 0 ? Return::success : Return::insufficient_size;
  };
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(read(opened.gpu(), FieldId::retired_pages_sbe).value, Value(std::int64_t{0}));
  EXPECT_EQ(read(opened.gpu(), FieldId::retired_pages_dbe).value, Value(std::int64_t{3}));
}

}  // namespace
}  // namespace stoker::nvml
