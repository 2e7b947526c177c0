#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "device/sim/library/library_test_support.h"

namespace stoker::sim {
namespace {

namespace abi = nvml::abi;

class Readings : public LibraryTest {
 protected:
  void load(LoadKind kind) {
    state_.change([&](State& all) {
      start_load(all.gpus[0], kind, 1, all.clock.frozen_monotonic_ns);
      all.clock.frozen_monotonic_ns += 30'000'000'000;
    });
  }
  abi::FieldValue field(std::uint32_t id, std::uint32_t scope = 0) {
    abi::FieldValue value{};
    value.field_id = id;
    value.scope_id = scope;
    value.type = abi::unset_type;
    EXPECT_EQ(nvml_.nvmlDeviceGetFieldValues(device(), 1, &value), Return::success);
    return value;
  }
  void put_field(const FieldRow& row) {
    state_.change([&](State& all) {
      for (FieldRow& one : all.gpus[0].field_values) {
        if (one.source != FieldSource::none) continue;
        one = row;
        return;
      }
    });
  }
};

TEST_F(Readings, MoveWithTheLoadTogether) {
  abi::Utilization utilization{};
  ASSERT_EQ(nvml_.nvmlDeviceGetUtilizationRates(device(), &utilization), Return::success);
  EXPECT_EQ(utilization.gpu_percent, 0U);
  load(LoadKind::training);
  ASSERT_EQ(nvml_.nvmlDeviceGetUtilizationRates(device(), &utilization), Return::success);
  EXPECT_NEAR(utilization.gpu_percent, 99, 1);
  unsigned power = 0;
  unsigned celsius = 0;
  unsigned clock = 0;
  std::uint64_t reasons = 0;
  ASSERT_EQ(nvml_.nvmlDeviceGetPowerUsage(device(), &power), Return::success);
  ASSERT_EQ(nvml_.nvmlDeviceGetTemperature(device(), abi::TemperatureSensor::gpu, &celsius),
            Return::success);
  ASSERT_EQ(nvml_.nvmlDeviceGetClockInfo(device(), abi::ClockType::sm, &clock), Return::success);
  ASSERT_EQ(nvml_.nvmlDeviceGetCurrentClocksEventReasons(device(), &reasons), Return::success);
  EXPECT_NEAR(power, 694'000, 7'000);
  EXPECT_NEAR(celsius, 58, 2);
  EXPECT_NEAR(clock, 1840, 20);
  EXPECT_EQ(reasons, 4U);
}

TEST_F(Readings, HaveNoMarginWhereNoLimitIsKnown) {
  abi::MarginTemperatureV1 margin{.version = abi::version_tag<abi::MarginTemperatureV1>(1)};
  ASSERT_EQ(nvml_.nvmlDeviceGetMarginTemperature(device(), &margin), Return::success);
  EXPECT_EQ(margin.celsius, 52);
  state_.change([](State& all) {
    for (std::int32_t& limit : all.gpus[0].thermal.threshold_c) limit = threshold_not_supported;
  });
  EXPECT_EQ(nvml_.nvmlDeviceGetMarginTemperature(device(), &margin), Return::not_supported);
}

TEST_F(Readings, CountEnergyInMillijoules) {
  load(LoadKind::idle);
  std::uint64_t energy_mj = 0;
  ASSERT_EQ(nvml_.nvmlDeviceGetTotalEnergyConsumption(device(), &energy_mj), Return::success);
  EXPECT_NEAR(static_cast<double>(energy_mj), 30 * 76'000, 5'000);
}

TEST_F(Readings, CountReservedMemoryAsUsedInTheFirstVersionOnly) {
  state_.change([](State& all) {
    all.gpus[0].processes[0] = {ProcessKind::compute, 1, no_instance, no_instance, 1ULL << 30U, {}};
  });
  abi::Memory old{};
  abi::MemoryV2 now{};
  now.version = abi::version_tag<abi::MemoryV2>(2);
  ASSERT_EQ(nvml_.nvmlDeviceGetMemoryInfo(device(), &old), Return::success);
  ASSERT_EQ(nvml_.nvmlDeviceGetMemoryInfo_v2(device(), &now), Return::success);
  EXPECT_EQ(now.used_bytes, 1ULL << 30U);
  EXPECT_EQ(old.used_bytes, now.used_bytes + now.reserved_bytes);
  EXPECT_EQ(old.free_bytes, now.free_bytes);
}

TEST_F(Readings, AnswerFieldsFromTheStatesTable) {
  put_field({1, FieldSource::live, 0, 3, 0});
  put_field({187, FieldSource::untouched, 0, 0, 0});
  put_field({173, FieldSource::constant, 0, 1, 42});
  put_field({7, FieldSource::constant, 3, 3, 0});
  put_field({161, FieldSource::live, 0, 3, 0});
  state_.change([](State& all) { all.gpus[0].links[5].errors[0] = 9; });
  EXPECT_EQ(field(1).value.as_unsigned_long_long, 1U);
  EXPECT_EQ(field(187).status, Return::success);
  EXPECT_EQ(field(187).type, abi::unset_type);
  EXPECT_EQ(field(173).value.as_unsigned_int, 42U);
  EXPECT_EQ(field(173).type, abi::ValueType::unsigned_int);
  EXPECT_EQ(field(7).status, Return::not_supported);
  EXPECT_EQ(field(161, 5).value.as_unsigned_long_long, 9U);
  EXPECT_EQ(field(161, 4).value.as_unsigned_long_long, 0U);
  EXPECT_EQ(field(161, 99).status, Return::invalid_argument);
  EXPECT_EQ(field(999).status, Return::not_supported);
}

TEST_F(Readings, GiveGpmMetricsOfTheTimeBetweenTwoSamples) {
  load(LoadKind::training);
  abi::GpmSample first = nullptr;
  abi::GpmSample second = nullptr;
  ASSERT_EQ(nvml_.nvmlGpmSampleAlloc(&first), Return::success);
  ASSERT_EQ(nvml_.nvmlGpmSampleAlloc(&second), Return::success);
  abi::GpmMetricsGet get{};
  get.version = abi::gpm_metrics_get_version;
  get.count = 4;
  get.earlier = first;
  get.later = second;
  get.metrics[0].id = 5;   // tensor
  get.metrics[1].id = 61;  // NVLink out
  get.metrics[2].id = 8;   // none
  get.metrics[3].id = 63;  // NVLink out, link 0
  EXPECT_EQ(nvml_.nvmlGpmMetricsGet(&get), Return::invalid_argument);
  ASSERT_EQ(nvml_.nvmlGpmSampleGet(device(), first), Return::success);
  ASSERT_EQ(nvml_.nvmlGpmSampleGet(device(), second), Return::success);
  ASSERT_EQ(nvml_.nvmlGpmMetricsGet(&get), Return::success);
  EXPECT_NEAR(get.metrics[0].value, 69, 1);
  EXPECT_STREQ(get.metrics[0].short_name, "ANY_TENSOR_UTIL");
  EXPECT_NEAR(get.metrics[1].value, 24'683, 100);
  EXPECT_EQ(get.metrics[2].short_name, nullptr);
  EXPECT_NEAR(get.metrics[3].value, 24'683.0 / 18, 10);
  ASSERT_EQ(nvml_.nvmlGpmSampleGet(device(1), second), Return::success);
  EXPECT_EQ(nvml_.nvmlGpmMetricsGet(&get), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlGpmSampleFree(first), Return::success);
  EXPECT_EQ(nvml_.nvmlGpmSampleFree(first), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlGpmSampleFree(second), Return::success);
}

TEST_F(Readings, GiveSamplesSinceATimeStamp) {
  load(LoadKind::training);
  abi::ValueType type{};
  unsigned count = 0;
  ASSERT_EQ(nvml_.nvmlDeviceGetSamples(device(), abi::SamplingType::gpu_utilization, 0, &type,
                                       &count, nullptr),
            Return::success);
  ASSERT_GT(count, 0U);
  std::vector<abi::Sample> samples(count);
  ASSERT_EQ(nvml_.nvmlDeviceGetSamples(device(), abi::SamplingType::gpu_utilization, 0, &type,
                                       &count, samples.data()),
            Return::success);
  ASSERT_GT(count, 10U);
  EXPECT_NEAR(samples[count - 1].value.as_unsigned_int, 99, 1);
  const std::uint64_t last = samples[count - 1].timestamp_us;
  count = static_cast<unsigned>(samples.size());
  EXPECT_EQ(nvml_.nvmlDeviceGetSamples(device(), abi::SamplingType::gpu_utilization, last, &type,
                                       &count, samples.data()),
            Return::not_found);
  EXPECT_EQ(nvml_.nvmlDeviceGetSamples(device(), abi::SamplingType::memory_clock, 0, &type, &count,
                                       samples.data()),
            Return::not_found);
}

TEST_F(Readings, NameOnlyCpusThatThisMachineHas) {
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  unsigned long set[32] = {};
  const auto named = [&] {
    EXPECT_EQ(nvml_.nvmlDeviceGetCpuAffinity(device(), 32, set), Return::success);
    long count = 0;
    for (const unsigned long word : set) count += __builtin_popcountl(word);
    return count;
  };
  state_.change([](State& all) { all.gpus[0].identity.cpu_affinity[0] = 0x1; });
  EXPECT_EQ(named(), 1);
  state_.change([](State& all) {
    all.gpus[0].identity.cpu_affinity[0] = 0;
    all.gpus[0].identity.cpu_affinity[15] = ~std::uint64_t{0};
  });
  if (cpus <= 960) {
    EXPECT_EQ(named(), cpus);
  }
}

TEST_F(Readings, HideTheRemoteEndOfALinkAsADriverInAVmDoes) {
  abi::PciInfo remote{};
  ASSERT_EQ(nvml_.nvmlDeviceGetNvLinkRemotePciInfo_v2(device(), 0, &remote), Return::success);
  EXPECT_STREQ(remote.bus_id, "FFFFFFFF:FF:FF.0");
  EXPECT_STREQ(remote.bus_id_legacy, "FFFFFFF:FF:FF.0");
}

}  // namespace
}  // namespace stoker::sim
