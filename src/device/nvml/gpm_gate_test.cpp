#include "device/nvml/gpm_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace stoker::nvml {
namespace {

TEST(GpmGate, AFirstCallOverlapsNoOther) {
  GpmGate gate(Seconds(60));
  std::atomic<int> inside{0};
  std::atomic<bool> first_inside{false};
  std::atomic<int> overlaps{0};
  std::vector<std::jthread> threads;
  for (int gpu = 0; gpu < 8; ++gpu) {
    threads.emplace_back([&] {
      for (int call = 0; call < 200; ++call) {
        const bool alone = call % 20 == 0;
        const GpmGate::Pass pass(gate, alone);
        if (first_inside || (alone && inside > 0)) ++overlaps;
        ++inside;
        if (alone) first_inside = true;
        std::this_thread::yield();
        if (alone) first_inside = false;
        --inside;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(overlaps, 0);
}

TEST(GpmGate, LaterCallsRunTogether) {
  GpmGate gate(Seconds(60));
  const GpmGate::Pass one(gate, false);
  const GpmGate::Pass other(gate, false);  // would wait for a minute otherwise
}

TEST(GpmGate, ACallThatNeverReturnsDoesNotHoldTheOthersForEver) {
  GpmGate gate(Milliseconds(1));
  const GpmGate::Pass hung(gate, true);
  const GpmGate::Pass first(gate, true);
  const GpmGate::Pass later(gate, false);
}

}  // namespace
}  // namespace stoker::nvml
