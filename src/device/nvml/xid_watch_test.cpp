#include "device/nvml/events.h"
#include "device/nvml/fake_library_test_support.h"

namespace stoker::nvml {
namespace {

using abi::Device;
using abi::Return;
using fake::read;

struct Events {
  ManualClock clock;
  std::uint64_t registered = 0;
  Return wait = Return::timeout;
  abi::EventData next{};
  int sets = 0;
  int lost_at_registration = 0;  // that many registrations find their GPU lost
};
Events* events = nullptr;

class XidTest : public testing::Test {
 protected:
  void SetUp() override { events = &state_; }
  void TearDown() override { events = nullptr; }

  static Library library() {
    Library made = fake::library();
    fake::world.gpus = 2;
    abi::Functions& nvml = made.functions;
    nvml.nvmlEventSetCreate = [](abi::EventSet* set) {
      *set = reinterpret_cast<abi::EventSet>(events);
      ++events->sets;
      return Return::success;
    };
    nvml.nvmlEventSetFree = [](abi::EventSet) {
      --events->sets;
      return Return::success;
    };
    nvml.nvmlDeviceRegisterEvents = [](Device, std::uint64_t types, abi::EventSet) {
      if (events->lost_at_registration-- > 0) return Return::gpu_is_lost;
      events->registered |= types;
      return Return::success;
    };
    nvml.nvmlEventSetWait_v2 = [](abi::EventSet, abi::EventData* data, unsigned) {
      if (events->wait == Return::success) *data = events->next;
      return events->wait;
    };
    return made;
  }

  fake::Opened open(Library made) {
    DriverOptions options;
    options.clock = &state_.clock;
    return fake::open(std::move(made), options);
  }

  Events state_;
};

TEST_F(XidTest, OnlyXidsAreAskedForAndTheSetIsGivenBack) {
  {
    const auto opened = open(library());
  }
  EXPECT_EQ(state_.registered, abi::event_type::xid_critical);
  EXPECT_EQ(state_.sets, 0);
}

TEST_F(XidTest, TheLastOneIsKnownOnlyWhileSomebodyWaits) {
  const auto opened = open(library());
  EXPECT_EQ(read(opened.gpu(1), FieldId::last_xid).reason, Reason::pending);
  auto told = opened.driver->wait_xid_event(Milliseconds(10));
  ASSERT_TRUE(told.has_value());
  EXPECT_FALSE(told->has_value());
  EXPECT_EQ(read(opened.gpu(1), FieldId::last_xid).value, Value(std::int64_t{0}));

  state_.wait = Return::success;
  state_.next = {fake::device_at(1), abi::event_type::xid_critical, 79, abi::no_instance_id,
                 abi::no_instance_id};
  told = opened.driver->wait_xid_event(Milliseconds(10));
  ASSERT_TRUE(told.has_value() && told->has_value());
  EXPECT_EQ((*told)->xid, 79U);
  EXPECT_EQ((*told)->gpu, opened.gpu(1).info().pci);
  EXPECT_EQ(read(opened.gpu(1), FieldId::last_xid).value, Value(std::int64_t{79}));
  EXPECT_EQ(read(opened.gpu(0), FieldId::last_xid).value, Value(std::int64_t{0}));

  state_.clock.advance(Seconds(31));
  EXPECT_EQ(read(opened.gpu(1), FieldId::last_xid).reason, Reason::stale);
}

TEST_F(XidTest, WhereTheCardTellsNoneThereIsNothingToWaitFor) {
  Library made = library();
  made.functions.nvmlDeviceGetSupportedEventTypes = [](Device, std::uint64_t* types) {
    *types = abi::event_type::clock;
    return Return::success;
  };
  const auto opened = open(std::move(made));
  const auto told = opened.driver->wait_xid_event(Milliseconds(10));
  ASSERT_FALSE(told.has_value());
  EXPECT_EQ(told.error().code(), ErrorCode::not_supported);
  EXPECT_EQ(read(opened.gpu(), FieldId::last_xid).reason, Reason::not_supported);
}

TEST_F(XidTest, ALostGpuLeavesTheOthersTheirXids) {
  const auto opened = open(library());
  state_.wait = Return::gpu_is_lost;
  state_.lost_at_registration = 1;
  ASSERT_FALSE(opened.driver->wait_xid_event(Milliseconds(10)).has_value());
  state_.wait = Return::timeout;
  ASSERT_TRUE(opened.driver->wait_xid_event(Milliseconds(10)).has_value());
  EXPECT_EQ(read(opened.gpu(0), FieldId::last_xid).reason, Reason::lost);
  EXPECT_TRUE(read(opened.gpu(1), FieldId::last_xid).ok());
  EXPECT_EQ(state_.sets, 1);
}

TEST_F(XidTest, AFailedWaitIsAnErrorAndMakesNoXidUp) {
  const auto opened = open(library());
  state_.wait = Return::gpu_is_lost;
  const auto told = opened.driver->wait_xid_event(Milliseconds(10));
  ASSERT_FALSE(told.has_value());
  EXPECT_EQ(told.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(read(opened.gpu(), FieldId::last_xid).reason, Reason::pending);
}

}  // namespace
}  // namespace stoker::nvml
