#include "sample/gpu_sampler.h"

#include <gtest/gtest.h>

#include <map>

namespace stoker::sample {
namespace {

using device::CallSlot;
using device::probe::Round;
using device::probe::SampleRates;

// A GPU whose calls take 5 µs each on a clock that only they move.
class ScriptedGpu final : public device::Gpu {
 public:
  ScriptedGpu(ManualClock& clock, CallSlot& slot) : clock_(clock), slot_(slot) {}

  [[nodiscard]] const device::GpuInfo& info() const override { return info_; }
  void read(Getter getter, const std::vector<const Field*>& fields,
            std::vector<device::TargetReading>& out) override {
    announced = announced && slot_.now() && slot_.now()->getter == getter;
    ++calls[getter];
    clock_.advance(std::chrono::microseconds(5));
    for (const Field* field : fields) {
      out.push_back({{}, field->id, Reading::of(std::int64_t{1}, clock_.monotonic())});
    }
  }
  Reading processes(std::vector<device::ProcessInfo>& out) override {
    announced = announced && slot_.now() && slot_.now()->getter == Getter::processes;
    out.push_back({.pid = 7});
    return Reading::of(std::int64_t{1}, clock_.monotonic());
  }
  bool refresh() override { return std::exchange(changed, false); }

  bool announced = true;
  bool changed = false;
  std::map<Getter, int> calls;

 private:
  ManualClock& clock_;
  CallSlot& slot_;
  device::GpuInfo info_;
};

class OneGpu : public testing::Test {
 protected:
  void rounds(int count) {
    for (int left = count; left > 0; --left) {
      round.clear();
      sampler.round(round);
      if (round.next > clock.monotonic()) clock.advance(round.next - clock.monotonic());
    }
  }
  ManualClock clock;
  CallSlot slot;
  ScriptedGpu gpu{clock, slot};
  const SampleRates rates;
  GpuSampler sampler{{gpu, rates, slot}, clock};
  Round round;
};

TEST_F(OneGpu, GivesAReadingOfEveryFieldInTheFirstRound) {
  rounds(1);
  EXPECT_EQ(round.readings.size(), gpu_fields().size());
  ASSERT_TRUE(round.process_outcome.has_value());
  EXPECT_EQ(round.processes.size(), 1U);
}

TEST_F(OneGpu, AnnouncesEveryCallBeforeItIsMade) {
  rounds(70);
  EXPECT_TRUE(gpu.announced);
  EXPECT_FALSE(slot.now().has_value());
}

TEST_F(OneGpu, MeasuresWhatCallsCost) {
  rounds(61);
  // The processes are listed, and the costs told, every five seconds: also in this round.
  ASSERT_FALSE(round.costs.empty());
  for (const device::CallCost& cost : round.costs) {
    if (cost.getter == Getter::processes) continue;
    EXPECT_EQ(static_cast<int>(cost.calls), gpu.calls[cost.getter]);
    EXPECT_EQ(cost.last, std::chrono::microseconds(5));
    EXPECT_EQ(cost.longest, std::chrono::microseconds(5));
    EXPECT_EQ(cost.total, std::chrono::microseconds(5) * static_cast<std::int64_t>(cost.calls));
  }
}

TEST_F(OneGpu, SaysWhenTheGpuHasOtherMigDevices) {
  rounds(5);
  gpu.changed = true;
  bool told = false;
  for (int left = 11; left > 0; --left) {
    rounds(1);
    told = told || round.info_changed;
  }
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace stoker::sample
