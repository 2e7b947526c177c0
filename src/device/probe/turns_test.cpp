#include "device/probe/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace stoker::device::probe {
namespace {

class NoGpu final : public Gpu {
 public:
  [[nodiscard]] const GpuInfo& info() const override { return info_; }
  bool refresh() override { return false; }
  void read(Getter /*getter*/, const std::vector<const Field*>& /*fields*/,
            std::vector<TargetReading>& /*out*/) override {}
  Reading processes(std::vector<ProcessInfo>& /*out*/) override { return {}; }

 private:
  GpuInfo info_;
};

class NoSampler final : public Sampler {
 public:
  void round(Round& /*round*/) override {}
};

class TurnsOfGpus : public testing::Test {
 protected:
  Seat* add(MonotonicTime due) {
    auto seat = std::make_unique<Seat>(Seat{.gpu = gpu_, .sampler = sampler_, .round = {}});
    seat->round.next = due;
    Seat* known = seat.get();
    turns_.add(std::move(seat));
    return known;
  }
  static MonotonicTime now() { return system_clock().monotonic(); }
  static MonotonicTime ago(Nanoseconds time) { return {now().since_boot - time}; }
  static MonotonicTime far() { return now() + Seconds(3600); }

  NoGpu gpu_;
  NoSampler sampler_;
  Turns turns_{system_clock()};
};

TEST_F(TurnsOfGpus, GivesWhatIsDueFirstAndNothingThatSomebodyHas) {
  Seat* later = add(ago(Seconds(1)));
  Seat* first = add(ago(Seconds(2)));
  EXPECT_EQ(turns_.take(), first);
  EXPECT_EQ(turns_.take(), later);
  first->round.next = ago(Seconds(3));
  turns_.give_back(*first);
  EXPECT_EQ(turns_.take(), first);
}

TEST_F(TurnsOfGpus, WaitsUntilOneIsDue) {
  const MonotonicTime due = now() + Milliseconds(30);
  Seat* seat = add(due);
  EXPECT_EQ(turns_.take(), seat);
  EXPECT_GE(now(), due);
}

TEST_F(TurnsOfGpus, OneThatCameLaterAndIsDueBeforeIsNotWaitedPast) {
  add(far());
  Seat* early = nullptr;
  std::jthread adds([this, &early] {
    std::this_thread::sleep_for(Milliseconds(20));
    early = add(now());
  });
  const Seat* taken = turns_.take();
  adds.join();
  EXPECT_EQ(taken, early);
}

TEST_F(TurnsOfGpus, HurryHasAnotherThreadGoOnWhereOneIsStuck) {
  Seat* stuck = add(now());
  std::atomic<bool> released = false;
  std::atomic<int> read = 0;
  const auto work = [&] {
    while (Seat* seat = turns_.take()) {
      while (seat == stuck && !released) std::this_thread::sleep_for(Milliseconds(1));
      if (seat != stuck) ++read;
      seat->round.next = far();
      turns_.give_back(*seat);
    }
  };
  const std::jthread one(work);
  const std::jthread two(work);
  std::this_thread::sleep_for(Milliseconds(20));
  EXPECT_FALSE(turns_.hurry()) << "nothing is due but what is being read";
  add(now());
  const MonotonicTime give_up = now() + Seconds(30);
  while (read == 0 && now() < give_up) {
    turns_.hurry();
    std::this_thread::sleep_for(Milliseconds(1));
  }
  EXPECT_EQ(read, 1);
  add(now());
  while (read == 1 && now() < give_up) std::this_thread::sleep_for(Milliseconds(1));
  EXPECT_EQ(read, 2) << "somebody leads again, and need not be woken";
  released = true;
  turns_.stop();
}

TEST_F(TurnsOfGpus, HurryIsOfNoUseWhereNobodyRests) {
  add(now());
  ASSERT_NE(turns_.take(), nullptr);
  add(now());
  EXPECT_FALSE(turns_.hurry());
}

TEST_F(TurnsOfGpus, StoppingEndsEveryWait) {
  add(far());
  std::jthread leads([this] { EXPECT_EQ(turns_.take(), nullptr); });
  std::jthread rests([this] { EXPECT_EQ(turns_.take(), nullptr); });
  std::this_thread::sleep_for(Milliseconds(20));
  turns_.stop();
}

}  // namespace
}  // namespace stoker::device::probe
