// Whatever a source tells, in whatever order, the store's promises hold.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "store/store_test_support.h"

namespace stoker::store {
namespace {

using device::GpuState;
using device::SourceState;

// One thing that a source, sound or broken, may tell next.
void tell_something(RunningStore& node) {
  const auto gpu = *rc::gen::inRange(0U, 100U);
  const MonotonicTime now = node.clock.monotonic();
  switch (*rc::gen::inRange(0, 9)) {
    case 0: {
      std::vector<device::GpuInfo> infos;
      for (const unsigned n :
           *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 100U))) {
        infos.push_back(gpu_info(n));
        infos.back().uuid += std::string(*rc::gen::inRange<std::size_t>(0, 700), 'x');
        infos.back().migs.resize(*rc::gen::inRange<std::size_t>(0, 80));
      }
      node.store.on_inventory(infos);
      return;
    }
    case 1: node.store.on_gpu_state(pci_of(gpu), GpuState(*rc::gen::inRange(0, 3)), "why"); return;
    case 2: node.store.on_status(status_of(SourceState(*rc::gen::inRange(0, 9)))); return;
    case 3: node.store.on_xid(pci_of(gpu), *rc::gen::arbitrary<std::uint32_t>(), now); return;
    case 4: node.clock.advance(Milliseconds(*rc::gen::inRange(0, 20'000))); return;
    case 5:
      node.store.on_processes(pci_of(gpu), Reading::of(std::int64_t{1}, now),
                              std::vector<device::ProcessInfo>(
                                  *rc::gen::inRange<std::size_t>(0, 3000), device::ProcessInfo{}));
      return;
    case 6:
      node.store.on_costs(pci_of(gpu),
                          std::vector<device::CallCost>(
                              *rc::gen::inRange<std::size_t>(0, 200),
                              device::CallCost{.getter = Getter(*rc::gen::inRange(0, 50))}));
      return;
    default: {
      const auto kind = *rc::gen::element(EntityKind::gpu, EntityKind::mig, EntityKind::nvlink,
                                          EntityKind::node, EntityKind::file);
      const auto at = now + Milliseconds(*rc::gen::inRange(-30'000, 30'000));
      node.store.on_readings(
          pci_of(gpu), {{.target = {kind, *rc::gen::inRange(0U, 200U)},
                         .field = FieldId(*rc::gen::inRange<std::uint16_t>(0, field_count + 20)),
                         .reading = Reading::of(*rc::gen::arbitrary<double>(), at)}});
      return;
    }
  }
}

void check_set(const ReadingSet& set, const Snapshot& snapshot, bool may_have_values) {
  RC_ASSERT(set.all().size() <= field_count);
  for (const auto& [id, reading] : set.all()) {
    RC_ASSERT(reading.taken_at <= snapshot.taken_at);
    if (!reading.ok()) continue;
    RC_ASSERT(may_have_values);
    RC_ASSERT(as_double(reading.value) == as_double(reading.value));  // no NaN
    RC_ASSERT(snapshot.taken_at - reading.taken_at <=
              Seconds(180));  // three of the longest periods
  }
}

void check(const Snapshot& snapshot) {
  RC_ASSERT(snapshot.gpus.size() <= StoreLimits::gpus);
  for (std::size_t n = 0; n < snapshot.gpus.size(); ++n) {
    const GpuSnapshot& gpu = snapshot.gpus[n];
    if (n > 0) RC_ASSERT(snapshot.gpus[n - 1].info.pci < gpu.info.pci);
    const bool may = gpu.state == GpuState::present && is_telling(snapshot.source.state);
    check_set(gpu.readings, snapshot, may);
    for (const auto& [number, set] : gpu.migs) {
      RC_ASSERT(number < gpu.info.migs.size());
      check_set(set, snapshot, may);
    }
    for (const auto& [number, set] : gpu.nvlinks) check_set(set, snapshot, may);
    RC_ASSERT(gpu.nvlinks.size() <= StoreLimits::nvlinks_per_gpu);
    RC_ASSERT(gpu.info.migs.size() <= StoreLimits::migs_per_gpu);
    RC_ASSERT(gpu.info.uuid.size() <= StoreLimits::text_bytes);
    RC_ASSERT(gpu.processes.size() <= StoreLimits::processes_per_gpu);
    RC_ASSERT(gpu.xids.size() <= StoreLimits::xids_per_gpu);
    RC_ASSERT(gpu.costs.size() <= static_cast<std::size_t>(Getter::count_));
    if (gpu.state == GpuState::lost) {
      RC_ASSERT(gpu.readings.get(FieldId::temperature).reason == Reason::lost);
    }
  }
}

RC_GTEST_PROP(StoreProperty, HoldsItsPromisesWhateverASourceTells, ()) {
  RunningStore node(4);
  for (int steps = *rc::gen::inRange(1, 60); steps > 0; --steps) {
    tell_something(node);
    check(node.store.snapshot());
  }
}

RC_GTEST_PROP(StoreProperty, XidCountsOnlyRiseWhileACardStaysInItsPlace, ()) {
  RunningStore node(1);
  std::map<std::uint32_t, XidTally> before;
  for (int steps = *rc::gen::inRange(1, 60); steps > 0; --steps) {
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        node.store.on_xid(pci_of(0), *rc::gen::inRange(1U, 200U), node.clock.monotonic());
        break;
      case 1: node.store.on_inventory(*rc::gen::element(gpu_infos(0), gpu_infos(1))); break;
      case 2: node.store.on_status(status_of(SourceState(*rc::gen::inRange(0, 9)))); break;
      default: node.store.on_gpu_state(pci_of(0), GpuState(*rc::gen::inRange(0, 3)), "");
    }
    const auto now = node.store.snapshot().gpus.at(0).xids;
    for (const auto& [xid, seen] : before) RC_ASSERT(now.at(xid).count >= seen.count);
    before = now;
  }
}

}  // namespace
}  // namespace stoker::store
