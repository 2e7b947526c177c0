#include "device/nvml/fake_library_test_support.h"
#include "device/nvml/getters.h"

namespace stoker::nvml {
namespace {

using abi::Device;
using abi::FieldValue;
using abi::Return;
using fake::read;

TEST(FieldValues, EachIsJudgedByItsOwnCodeAndType) {
  Library library = fake::library();
  library.functions.nvmlDeviceGetFieldValues = [](Device, int count, FieldValue* values) {
    EXPECT_EQ(count, 3);
    values[0].status = Return::success;
    values[0].type = abi::ValueType::unsigned_int;
    values[0].value.as_unsigned_int = 37;
    values[1].status = Return::not_supported;
    values[2].status = Return::success;  // and the type is left as it was
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  const Fields fields{&field(FieldId::memory_temperature), &field(FieldId::recovery_action),
                      &field(FieldId::power_violation)};
  Readings out;
  opened.gpu().read(Getter::field_value, fields, out);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].reading.value, Value(std::int64_t{37}));
  EXPECT_EQ(out[1].reading.reason, Reason::not_supported);
  EXPECT_EQ(out[2].reading.reason, Reason::not_supported);
}

TEST(FieldValues, ThoseThatAFailedCallLeftAloneAreNotRead) {
  Library library = fake::library();
  library.functions.nvmlDeviceGetFieldValues = [](Device, int, FieldValue*) {
    return Return::gpu_is_lost;
  };
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(read(opened.gpu(), FieldId::memory_temperature).reason, Reason::lost);
}

TEST(FieldValues, NvLinkTrafficIsAskedOverAllLinksAndToldInBytes) {
  Library library = fake::library();
  library.functions.nvmlDeviceGetFieldValues = [](Device, int, FieldValue* values) {
    EXPECT_EQ(values[0].field_id, 138U);
    EXPECT_EQ(values[0].scope_id, 0xFFFFFFFFU);
    values[0].status = Return::success;
    values[0].type = abi::ValueType::unsigned_long_long;
    values[0].value.as_unsigned_long_long = 5'000'000'000;
    return Return::success;
  };
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(read(opened.gpu(), FieldId::nvlink_data_tx).value,
            Value(std::int64_t{5'000'000'000 * 1024}));
}

// ---- GPM: samples are counted, so that none is leaked and none is freed twice

struct Gpm {
  ManualClock clock;
  int alive = 0;
  int samples = 0;
  unsigned last_instance = 0;
  Return sample_code = Return::success;
  double value = 50;
};
Gpm* gpm = nullptr;

class GpmTest : public testing::Test {
 protected:
  void SetUp() override { gpm = &state_; }
  void TearDown() override { gpm = nullptr; }

  static Library library() {
    Library made = fake::library();
    abi::Functions& nvml = made.functions;
    nvml.nvmlGpmQueryDeviceSupport = [](Device, abi::GpmSupport* support) {
      EXPECT_EQ(support->version, 1U);
      support->supported = 1;
      return Return::success;
    };
    nvml.nvmlGpmSampleAlloc = [](abi::GpmSample* sample) {
      *sample = reinterpret_cast<abi::GpmSample>(new int(0));
      ++gpm->alive;
      return Return::success;
    };
    nvml.nvmlGpmSampleFree = [](abi::GpmSample sample) {
      delete reinterpret_cast<int*>(sample);
      --gpm->alive;
      return Return::success;
    };
    nvml.nvmlGpmSampleGet = [](Device, abi::GpmSample sample) {
      *reinterpret_cast<int*>(sample) = ++gpm->samples;
      return gpm->sample_code;
    };
    nvml.nvmlGpmMigSampleGet = [](Device, unsigned instance, abi::GpmSample sample) {
      gpm->last_instance = instance;
      *reinterpret_cast<int*>(sample) = ++gpm->samples;
      return gpm->sample_code;
    };
    nvml.nvmlGpmMetricsGet = [](abi::GpmMetricsGet* request) {
      EXPECT_EQ(request->version, 1U);
      EXPECT_LT(*reinterpret_cast<int*>(request->earlier), *reinterpret_cast<int*>(request->later));
      for (std::uint32_t i = 0; i < request->count; ++i) {
        request->metrics[i].status =
            request->metrics[i].id == 1 ? Return::success : Return::not_supported;
        request->metrics[i].value = gpm->value;
      }
      return Return::success;
    };
    return made;
  }

  fake::Opened open(Library made = library()) {
    DriverOptions options;
    options.clock = &state_.clock;
    return fake::open(std::move(made), options);
  }

  Gpm state_;
};

TEST_F(GpmTest, ARateNeedsTwoSamplesATenthOfASecondApart) {
  {
    const auto opened = open();
    EXPECT_TRUE(opened.gpu().info().gpm);
    EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active).reason, Reason::pending);
    EXPECT_EQ(state_.samples, 1);
    state_.clock.advance(Milliseconds(100));
    EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active).value, Value(50.0));
    state_.clock.advance(Milliseconds(50));
    state_.value = 60;
    EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active).value, Value(50.0));
    EXPECT_EQ(state_.samples, 2);
    state_.clock.advance(Milliseconds(50));
    EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active).value, Value(60.0));
    EXPECT_EQ(state_.alive, 2);
  }
  EXPECT_EQ(state_.alive, 0);
}

TEST_F(GpmTest, OtherMetricsOfTheSameMomentNeedNoNewSample) {
  const auto opened = open();
  state_.clock.advance(Seconds(1));
  EXPECT_TRUE(read(opened.gpu(), FieldId::graphics_active).ok());
  EXPECT_EQ(read(opened.gpu(), FieldId::sm_active).reason, Reason::not_supported);
  EXPECT_EQ(state_.samples, 2);
}

TEST_F(GpmTest, AfterAGapOrAFailedSampleItBeginsAnew) {
  const auto opened = open();
  state_.clock.advance(Seconds(61));
  EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active).reason, Reason::pending);
  state_.clock.advance(Seconds(1));
  EXPECT_TRUE(read(opened.gpu(), FieldId::graphics_active).ok());
  state_.clock.advance(Seconds(1));
  state_.sample_code = Return::gpu_is_lost;
  EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active).reason, Reason::lost);
  state_.sample_code = Return::success;
  state_.clock.advance(Seconds(1));
  EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active).reason, Reason::pending);
  state_.clock.advance(Seconds(1));
  EXPECT_TRUE(read(opened.gpu(), FieldId::graphics_active).ok());
}

TEST_F(GpmTest, EachMetricHasItsOwnCodeAndTransfersAreBytes) {
  Library made = library();
  made.functions.nvmlGpmMetricsGet = [](abi::GpmMetricsGet* request) {
    EXPECT_EQ(request->count, 3U);
    request->metrics[0].status = Return::success;
    request->metrics[0].value = 2.5;
    request->metrics[1].status = Return::not_supported;
    request->metrics[2].status = Return::success;
    request->metrics[2].value = 999;
    return Return::success;
  };
  const auto opened = open(std::move(made));
  state_.clock.advance(Seconds(1));
  Readings out;
  opened.gpu().read(
      Getter::gpm,
      {&field(FieldId::pcie_tx), &field(FieldId::nvlink_tx), &field(FieldId::tensor_active)}, out);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].reading.value, Value(2.5 * 1024 * 1024));
  EXPECT_EQ(out[1].reading.reason, Reason::not_supported);
  EXPECT_EQ(out[2].reading.reason, Reason::invalid);
}

TEST_F(GpmTest, BeforeHopperThereIsNoSource) {
  Library made = library();
  made.functions.nvmlGpmQueryDeviceSupport = [](Device, abi::GpmSupport* support) {
    support->supported = 0;
    return Return::success;
  };
  made.functions.nvmlDeviceGetArchitecture = [](Device, abi::Architecture* architecture) {
    *architecture = abi::Architecture::ampere;
    return Return::success;
  };
  const auto opened = open(std::move(made));
  EXPECT_FALSE(opened.gpu().info().gpm);
  EXPECT_EQ(read(opened.gpu(), FieldId::tensor_active).reason, Reason::no_source);
  EXPECT_EQ(state_.alive, 0);
}

// ---- MIG: two instances, one of which is made anew under the same id

struct Mig {
  bool enabled = true;
  std::vector<std::string> uuids{"MIG-a", "MIG-b"};  // "" is a free place
};
Mig* mig = nullptr;

Device mig_device(unsigned index) { return fake::device_at(100 + index); }

Library mig_library(Library made) {
  abi::Functions& nvml = made.functions;
  nvml.nvmlDeviceGetMigMode = [](Device, unsigned* current, unsigned* pending) {
    *current = *pending = mig->enabled ? 1 : 0;
    return Return::success;
  };
  nvml.nvmlDeviceGetMaxMigDeviceCount = [](Device, unsigned* count) {
    *count = 7;
    return Return::success;
  };
  nvml.nvmlDeviceGetMigDeviceHandleByIndex = [](Device, unsigned index, Device* device) {
    if (index >= mig->uuids.size() || mig->uuids[index].empty()) return Return::not_found;
    *device = mig_device(index);
    return Return::success;
  };
  nvml.nvmlDeviceGetUUID = [](Device device, char* text, unsigned length) {
    const unsigned index = fake::index_of(device);
    return fake::copy(index < 100 ? "GPU-0" : mig->uuids.at(index - 100), text, length);
  };
  nvml.nvmlDeviceGetName = [](Device device, char* text, unsigned length) {
    return fake::copy(fake::index_of(device) < 100 ? "NVIDIA H100" : "NVIDIA H100 MIG 3g.40gb",
                      text, length);
  };
  nvml.nvmlDeviceGetGpuInstanceId = [](Device device, unsigned* id) {
    *id = fake::index_of(device) - 99;
    return Return::success;
  };
  nvml.nvmlDeviceGetMemoryInfo_v2 = [](Device device, abi::MemoryV2* memory) {
    memory->total_bytes = 1000 + fake::index_of(device);
    return Return::success;
  };
  return made;
}

class MigTest : public GpmTest {
 protected:
  void SetUp() override {
    GpmTest::SetUp();
    mig = &mig_;
  }
  Mig mig_;
};

TEST_F(MigTest, DevicesAreListedAndReadOneByOne) {
  const auto opened = open(mig_library(library()));
  const device::GpuInfo& info = opened.gpu().info();
  EXPECT_TRUE(info.mig_enabled);
  ASSERT_EQ(info.migs.size(), 2U);
  EXPECT_EQ(info.migs[1].uuid, "MIG-b");
  EXPECT_EQ(info.migs[1].profile, "3g.40gb");
  EXPECT_EQ(info.migs[1].gpu_instance, 2U);
  const device::Target second{EntityKind::mig, 1};
  EXPECT_EQ(read(opened.gpu(), FieldId::memory_total, second).value, Value(std::int64_t{1101}));
  EXPECT_EQ(read(opened.gpu(), FieldId::utilization, second).reason, Reason::not_supported);
}

TEST_F(MigTest, AnInstanceMadeAnewUnderTheSameIdIsSampledAnew) {
  const auto opened = open(mig_library(library()));
  const device::Target second{EntityKind::mig, 1};
  EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active, second).reason, Reason::pending);
  EXPECT_EQ(state_.last_instance, 2U);
  state_.clock.advance(Seconds(1));
  EXPECT_TRUE(read(opened.gpu(), FieldId::graphics_active, second).ok());
  EXPECT_FALSE(opened.gpu().refresh());
  mig_.uuids[1] = "MIG-c";
  EXPECT_TRUE(opened.gpu().refresh());
  state_.clock.advance(Seconds(1));
  EXPECT_EQ(read(opened.gpu(), FieldId::graphics_active, second).reason, Reason::pending);
}

TEST_F(MigTest, SamplesOfInstancesThatAreGoneAreGivenBack) {
  const auto opened = open(mig_library(library()));
  read(opened.gpu(), FieldId::graphics_active, {EntityKind::mig, 1});
  const int with_both = state_.alive;
  mig_.enabled = false;
  EXPECT_TRUE(opened.gpu().refresh());
  EXPECT_TRUE(opened.gpu().info().migs.empty());
  EXPECT_EQ(state_.alive, with_both - 2);
}

}  // namespace
}  // namespace stoker::nvml
