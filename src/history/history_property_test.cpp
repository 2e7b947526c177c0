// Whatever GPUs, MIG instances and fields come and go, the memory stays within what was given, and what
// is told is what was read.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "history/history_test_support.h"

namespace stoker::history {
namespace {

device::GpuInfo with_migs(unsigned gpu, unsigned first, unsigned count) {
  device::GpuInfo info = store::gpu_info(gpu);
  for (unsigned n = 0; n < count; ++n) {
    info.migs.push_back({.uuid = "MIG-" + std::to_string(first + n)});
  }
  return info;
}

RC_GTEST_PROP(HistoryProperty, NeverTakesMoreThanItWasGiven, ()) {
  ManualClock clock;
  const auto memory = *rc::gen::inRange<std::size_t>(40'000, 400'000);
  History history(clock, two_fields(memory));
  unsigned next_mig = 0;
  const auto steps = *rc::gen::inRange(1, 40);
  for (int step = 0; step < steps; ++step) {
    const auto gpus = *rc::gen::inRange(1U, 6U);
    std::vector<device::GpuInfo> inventory;
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      const auto migs = *rc::gen::inRange(0U, 3U);
      inventory.push_back(with_migs(gpu, next_mig, migs));
      next_mig += migs;
    }
    history.on_inventory(inventory);
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      const auto at = clock.monotonic();
      std::vector<device::TargetReading> told = {
          {{}, FieldId::temperature, Reading::of(std::int64_t{40}, at)},
          {{}, FieldId::energy, Reading::of(std::int64_t{7}, at)}};
      for (unsigned mig = 0; mig < inventory[gpu].migs.size(); ++mig) {
        told.push_back({{EntityKind::mig, mig}, FieldId::temperature, Reading::of(1.5, at)});
      }
      history.on_readings(store::pci_of(gpu), told);
    }
    RC_ASSERT(history.facts().bytes <= memory);
    clock.advance(Milliseconds(*rc::gen::inRange(1, 100'000)));
  }
  std::string bytes;
  RC_ASSERT(static_cast<bool>(history.write_to([&bytes](std::string_view part) {
    bytes += part;
    return Result<void>{};
  })));
  History other(clock, two_fields(memory));
  RC_ASSERT(static_cast<bool>(other.read_from(bytes)));
  RC_ASSERT(other.facts().bytes <= memory);
}

RC_GTEST_PROP(HistoryProperty, TellsWhatWasReadInTheOrderOfTime, ()) {
  Watched node;
  std::vector<std::int64_t> read;
  const auto count = *rc::gen::inRange(1, 300);
  for (int n = 0; n < count; ++n) {
    const auto value = *rc::gen::inRange<std::int64_t>(0, 100);
    node.read(value);
    read.push_back(value);
    // readings come a little early or late
    node.clock.advance(Milliseconds(*rc::gen::inRange(900, 1100)));
    if (*rc::gen::inRange(0, 20) == 0)
      node.clock.set_wall({Seconds(*rc::gen::inRange(1, 2'000'000'000))});
  }
  std::vector<std::int64_t> told;
  for (const auto& value : node.ask(Seconds(3600), Step::readings)) {
    if (value.mark.ok()) told.push_back(static_cast<std::int64_t>(value.mean));
  }
  // Two readings of one slot leave the later one: nothing is told that was not read, in that order.
  RC_ASSERT(!told.empty());
  RC_ASSERT(told.back() == read.back());
  auto at = read.begin();
  for (const auto value : told) {
    at = std::find(at, read.end(), value);
    RC_ASSERT(at != read.end());
    ++at;
  }
}

}  // namespace
}  // namespace stoker::history
