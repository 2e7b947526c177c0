#include <gtest/gtest.h>

#include <thread>

#include "device/sim/library/library_test_support.h"

namespace stoker::sim {
namespace {

namespace abi = nvml::abi;
using std::chrono::milliseconds;

class Events : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ASSERT_EQ(nvml_.nvmlEventSetCreate(&set_), Return::success);
    ASSERT_EQ(nvml_.nvmlDeviceRegisterEvents(device(0), abi::event_type::xid_critical, set_),
              Return::success);
  }
  void tell(std::uint32_t gpu, std::uint64_t type, std::uint64_t number) {
    state_.change([&](State& all) {
      ++all.last_event;
      all.events[(all.last_event - 1) % max_events] = {all.last_event, type,        number, gpu,
                                                       no_instance,    no_instance, 0};
    });
  }
  Return wait(unsigned timeout_ms) { return nvml_.nvmlEventSetWait_v2(set_, &data_, timeout_ms); }

  abi::EventSet set_ = nullptr;
  abi::EventData data_{};
};

TEST_F(Events, BringAnXidAtOnceToOneWhoWaits) {
  std::jthread driver([&] {
    std::this_thread::sleep_for(milliseconds(50));
    tell(0, abi::event_type::xid_critical, 79);
  });
  constexpr unsigned hour_ms = 3'600'000;
  EXPECT_EQ(wait(hour_ms), Return::success);
  EXPECT_EQ(data_.device, device(0));
  EXPECT_EQ(data_.data, 79U);
  EXPECT_EQ(data_.gpu_instance_id, abi::no_instance_id);
}

TEST_F(Events, BringOnlyWhatWasAskedFor) {
  tell(1, abi::event_type::xid_critical, 31);
  tell(0, abi::event_type::clock, 0);
  EXPECT_EQ(wait(0), Return::timeout);
  tell(0, abi::event_type::xid_critical, 13);
  tell(0, abi::event_type::xid_critical, 43);
  EXPECT_EQ(wait(0), Return::success);
  EXPECT_EQ(data_.data, 13U);
  EXPECT_EQ(wait(0), Return::success);
  EXPECT_EQ(data_.data, 43U);
  EXPECT_EQ(wait(0), Return::timeout);
}

TEST_F(Events, DontBringWhatWasBeforeTheRegistration) {
  abi::EventSet late = nullptr;
  tell(0, abi::event_type::xid_critical, 79);
  ASSERT_EQ(nvml_.nvmlEventSetCreate(&late), Return::success);
  ASSERT_EQ(nvml_.nvmlDeviceRegisterEvents(device(0), abi::event_type::xid_critical, late),
            Return::success);
  EXPECT_EQ(nvml_.nvmlEventSetWait_v2(late, &data_, 0), Return::timeout);
  EXPECT_EQ(nvml_.nvmlEventSetFree(late), Return::success);
}

TEST_F(Events, GoOnAfterTheRingHasOverrun) {
  for (unsigned i = 0; i < max_events + 10; ++i) tell(0, abi::event_type::xid_critical, i);
  EXPECT_EQ(wait(0), Return::success);
  EXPECT_EQ(data_.data, 10U);
}

TEST_F(Events, SayAtTheTimeoutThatAGpuIsLost) {
  tell(0, abi::event_type::xid_critical, 79);
  state_.change([](State& all) { all.gpus[0].presence = Presence::lost; });
  EXPECT_EQ(wait(10), Return::success);
  EXPECT_EQ(wait(10), Return::gpu_is_lost);
}

TEST_F(Events, RefuseTypesThatTheCardLacksAndSetsThatAreNone) {
  EXPECT_EQ(nvml_.nvmlDeviceRegisterEvents(device(0), 0x40, set_), Return::not_supported);
  EXPECT_EQ(nvml_.nvmlDeviceRegisterEvents(device(0), 0x8, nullptr), Return::invalid_argument);
  EXPECT_EQ(nvml_.nvmlEventSetFree(set_), Return::success);
  EXPECT_EQ(nvml_.nvmlEventSetFree(set_), Return::invalid_argument);
  EXPECT_EQ(wait(0), Return::invalid_argument);
}

}  // namespace
}  // namespace stoker::sim
