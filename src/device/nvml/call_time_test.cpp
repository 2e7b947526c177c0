// A getter that makes several driver calls: it is one call that may not return, so each has its own time.
#include <algorithm>
#include <vector>

#include "device/call_slot.h"
#include "device/nvml/fake_library_test_support.h"

namespace stoker::nvml {
namespace {

struct Watched {
  ManualClock clock;
  device::CallSlot slot;
  Nanoseconds oldest{0};  // of the call under way, as it returns

  abi::Return eight_seconds() {
    clock.advance(Seconds(8));
    const auto call = slot.now();
    if (call) oldest = std::max(oldest, clock.monotonic() - call->since);
    return abi::Return::success;
  }
};
Watched* watched = nullptr;

TEST(CallTime, IsThatOfOneDriverCallAndNotOfTheGetter) {
  Watched state;
  watched = &state;
  Library library = fake::library();
  library.functions.nvmlDeviceGetTotalEccErrors = [](abi::Device, abi::MemoryErrorType,
                                                     abi::EccCounterType, std::uint64_t* count) {
    *count = 0;
    return watched->eight_seconds();
  };
  DriverOptions options;
  options.clock = &state.clock;
  const auto opened = fake::open(std::move(library), options);
  std::vector<const Field*> fields;
  for (const Field& row : all_fields()) {
    if (row.getter == Getter::ecc_total) fields.push_back(&row);
  }
  ASSERT_GE(fields.size(), 2U);
  std::vector<device::TargetReading> out;
  {
    const device::InCall call(state.slot, Getter::ecc_total, state.clock.monotonic());
    opened.gpu().read(Getter::ecc_total, fields, out);
  }
  EXPECT_EQ(out.size(), fields.size());
  EXPECT_LT(state.oldest, Seconds(9));
  watched = nullptr;
}

}  // namespace
}  // namespace stoker::nvml
