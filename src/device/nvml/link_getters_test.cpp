// Which of two ways tells the errors of a card's NVLinks is found out once, so not by a passing failure.
#include "device/nvml/enums.h"
#include "device/nvml/fake_library_test_support.h"
#include "device/nvml/field_ids.h"

namespace stoker::nvml {
namespace {

using abi::Return;

constexpr device::Target first_link{EntityKind::nvlink, 0};
Return by_field = Return::success;  // of the call
Return of_value = Return::success;  // of each value in it

// One link whose counter tells 7, and whose field value tells 5 where it tells any.
Library library_with_a_link() {
  by_field = of_value = Return::success;
  Library made = fake::library();
  abi::Functions& nvml = made.functions;
  nvml.nvmlDeviceGetNvLinkState = [](abi::Device, unsigned link, abi::EnableState* state) {
    *state = abi::EnableState{1};
    return link == 0 ? Return::success : Return::invalid_argument;
  };
  nvml.nvmlDeviceGetFieldValues = [](abi::Device, int count, abi::FieldValue* values) {
    for (int at = 0; at < count; ++at) {
      values[at].status = of_value;
      values[at].type = abi::ValueType::unsigned_long_long;
      values[at].value.as_unsigned_long_long = 5;
    }
    return by_field;
  };
  nvml.nvmlDeviceGetNvLinkErrorCounter = [](abi::Device, unsigned, abi::NvLinkErrorCounter,
                                            std::uint64_t* count) {
    *count = 7;
    return Return::success;
  };
  return made;
}

Reading replays(const fake::Opened& opened) {
  return fake::read(opened.gpu(), FieldId::nvlink_replay_errors, first_link);
}

TEST(NvLinkErrors, AreCountersWhereTheDriverKnowsNoFieldsOfThem) {
  const auto opened = fake::open(library_with_a_link());
  of_value = Return::invalid_argument;
  EXPECT_EQ(replays(opened).value, Value(std::int64_t{7}));
  of_value = Return::success;
  EXPECT_EQ(replays(opened).value, Value(std::int64_t{7}));
}

TEST(NvLinkErrors, AreCountersWhereTheDriverHasNoFunctionForFields) {
  Library library = library_with_a_link();
  library.functions.nvmlDeviceGetFieldValues = nullptr;
  const auto opened = fake::open(std::move(library));
  EXPECT_EQ(replays(opened).value, Value(std::int64_t{7}));
}

TEST(NvLinkErrors, StayWithFieldsAfterAFailureThatPasses) {
  const auto opened = fake::open(library_with_a_link());
  by_field = Return::gpu_is_lost;
  EXPECT_EQ(replays(opened).reason, Reason::lost);
  by_field = Return::success;
  EXPECT_EQ(replays(opened).value, Value(std::int64_t{5}));
}

}  // namespace
}  // namespace stoker::nvml
