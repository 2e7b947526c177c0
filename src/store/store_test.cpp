#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "store/store_test_support.h"

namespace stoker::store {
namespace {

using device::GpuState;
using device::SourceState;

TEST(Store, RdmaPortsAreNotKnownBeforeTheFirstLookAndWhereALookHangs) {
  ManualClock clock;
  Store store(clock, {.hostname = "node1", .ports_period = Seconds(15)});
  EXPECT_FALSE(store.snapshot().ports->problem.empty());
  store.on_rdma_ports({.at = clock.monotonic(), .ports = {{.device = "mlx5_0"}}});
  clock.advance(Seconds(44));
  EXPECT_EQ(store.snapshot().ports->ports.size(), 1U);
  clock.advance(Seconds(2));
  const auto late = store.snapshot();
  EXPECT_TRUE(late.ports->ports.empty());
  EXPECT_NE(late.ports->problem.find("the next hangs"), std::string::npos) << late.ports->problem;
  Store off(clock, {.hostname = "node1"});
  EXPECT_EQ(off.snapshot().ports, nullptr);
}

TEST(Store, AFieldThatWasNeverToldIsPending) {
  const RunningStore node(1);
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::pending);
}

TEST(Store, AValueIsCurrentUntilFiveSecondsAndThenStaleWithItsTimeKept) {
  RunningStore node(1);
  node.read(0, FieldId::temperature, 40);
  const MonotonicTime taken = node.clock.monotonic();
  node.clock.advance(Seconds(5));
  EXPECT_TRUE(node.get(0, FieldId::temperature).ok());
  node.clock.advance(Milliseconds(1));
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::stale);
  EXPECT_EQ(node.get(0, FieldId::temperature).taken_at, taken);
}

TEST(Store, AFirmwareFieldMayBeThreeOfItsPeriodsOld) {
  RunningStore node(1);
  node.read(0, FieldId::pcie_replays, 0);
  node.clock.advance(Seconds(45));
  EXPECT_TRUE(node.get(0, FieldId::pcie_replays).ok());
  node.clock.advance(Seconds(1));
  EXPECT_EQ(node.get(0, FieldId::pcie_replays).reason, Reason::stale);
}

TEST(Store, AFieldThatIsReadLessOftenThanItsClassSaysIsNotStaleBetweenTwoReadings) {
  RunningStore node(1);
  node.read(0, FieldId::temperature, 40);
  node.clock.advance(Seconds(10));
  node.read(0, FieldId::temperature, 41);
  node.clock.advance(Seconds(29));
  EXPECT_TRUE(node.get(0, FieldId::temperature).ok());
  node.clock.advance(Seconds(2));
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::stale);
}

TEST(Store, AReasonDoesNotGrowStale) {
  RunningStore node(1);
  node.store.on_readings(
      pci_of(0), {gpu_reading(FieldId::fan_speed,
                              Reading::none(Reason::not_supported, node.clock.monotonic()))});
  node.clock.advance(Seconds(3600));
  EXPECT_EQ(node.get(0, FieldId::fan_speed).reason, Reason::not_supported);
}

TEST(Store, SettingTheWallClockBackChangesNoReading) {
  RunningStore node(1);
  node.read(0, FieldId::temperature, 40);
  node.clock.set_wall({Seconds(1)});
  EXPECT_TRUE(node.get(0, FieldId::temperature).ok());
  EXPECT_EQ(node.store.snapshot().wall.since_epoch, Nanoseconds(Seconds(1)));
}

TEST(Store, AGpuThatIsNotListedAnyMoreIsLostAndKeepsItsIdentityButNoValue) {
  RunningStore node(2);
  node.read(0, FieldId::temperature, 40);
  node.read(1, FieldId::temperature, 41);
  node.store.on_inventory({gpu_info(1)});

  const Snapshot snapshot = node.store.snapshot();
  ASSERT_EQ(snapshot.gpus.size(), 2U);
  EXPECT_EQ(snapshot.gpus[0].state, GpuState::lost);
  EXPECT_EQ(snapshot.gpus[0].info.uuid, gpu_info(0).uuid);
  EXPECT_EQ(snapshot.gpus[0].readings.get(FieldId::temperature).reason, Reason::lost);
  EXPECT_EQ(snapshot.gpus[0].readings.get(FieldId::power).reason, Reason::lost) << "never told";
  EXPECT_EQ(snapshot.gpus[1].state, GpuState::present);
  EXPECT_TRUE(snapshot.gpus[1].readings.get(FieldId::temperature).ok());
}

TEST(Store, ALostGpuThatIsListedAgainIsPresentWithReadingsPending) {
  RunningStore node(1);
  node.read(0, FieldId::temperature, 40);
  node.store.on_inventory({});
  node.store.on_inventory(gpu_infos(1));
  EXPECT_EQ(node.store.snapshot().gpus[0].state, GpuState::present);
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::pending);
}

TEST(Store, AHungGpuStaysHungUntilItIsToldPresentWhateverAnInventorySays) {
  RunningStore node(2);
  node.read(0, FieldId::temperature, 40);
  node.store.on_gpu_state(pci_of(0), GpuState::hung, "nvmlDeviceGetPowerUsage");
  node.store.on_inventory({gpu_info(1)});
  node.store.on_inventory(gpu_infos(2));
  node.read(0, FieldId::temperature, 42);
  EXPECT_EQ(node.store.snapshot().gpus[0].state, GpuState::hung);
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::hung);

  node.store.on_gpu_state(pci_of(0), GpuState::present, "");
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::pending);
  node.read(0, FieldId::temperature, 43);
  EXPECT_TRUE(node.get(0, FieldId::temperature).ok());
}

TEST(Store, AGpuThatCouldNeverBeOpenedIsKnownByItsAddress) {
  RunningStore node(1);
  node.store.on_gpu_state(pci_of(7), GpuState::lost, "fell off the bus before the start");
  const Snapshot snapshot = node.store.snapshot();
  ASSERT_EQ(snapshot.gpus.size(), 2U);
  EXPECT_EQ(snapshot.gpus[1].info.pci, pci_of(7));
  EXPECT_TRUE(snapshot.gpus[1].info.uuid.empty());
  EXPECT_EQ(snapshot.gpus[1].state, GpuState::lost);
  node.store.on_inventory({gpu_info(0), gpu_info(7)});
  EXPECT_EQ(node.store.snapshot().gpus[1].info.uuid, gpu_info(7).uuid);
}

TEST(Store, WithoutADriverNoGpuHasAValueAndWhatWasOnItsWayIsDropped) {
  RunningStore node(1);
  node.read(0, FieldId::temperature, 40);
  node.store.on_status(status_of(SourceState::driver_missing));
  node.read(0, FieldId::temperature, 41);
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::driver_gone);
  EXPECT_EQ(node.store.snapshot().gpus[0].info.uuid, gpu_info(0).uuid);

  node.store.on_status(status_of(SourceState::running));
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::pending);
}

TEST(Store, EverySourceStateThatTellsNothingHasItsReason) {
  const std::map<SourceState, Reason> expected = {
      {SourceState::released, Reason::stale},
      {SourceState::library_missing, Reason::driver_gone},
      {SourceState::driver_missing, Reason::driver_gone},
      {SourceState::version_mismatch, Reason::driver_gone},
      {SourceState::no_permission, Reason::no_permission},
      {SourceState::driver_hung, Reason::hung},
      {SourceState::failed, Reason::failed}};
  for (const auto& [state, reason] : expected) {
    RunningStore node(1);
    node.read(0, FieldId::temperature, 40);
    node.store.on_status(status_of(state));
    EXPECT_EQ(node.get(0, FieldId::temperature).reason, reason) << device::to_string(state);
  }
}

TEST(Store, AProbeThatStartsAgainLeavesCurrentValuesCurrent) {
  RunningStore node(1);
  node.read(0, FieldId::temperature, 40);
  node.store.on_status(status_of(SourceState::starting));
  EXPECT_TRUE(node.get(0, FieldId::temperature).ok());
}

TEST(Store, AnotherCardAtTheSameAddressInheritsNothing) {
  RunningStore node(1);
  node.read(0, FieldId::temperature, 40);
  node.store.on_xid(pci_of(0), 79, node.clock.monotonic());
  device::GpuInfo other = gpu_info(5);
  other.pci = pci_of(0);
  node.store.on_inventory({other});
  const Snapshot snapshot = node.store.snapshot();
  ASSERT_EQ(snapshot.gpus.size(), 1U);
  EXPECT_EQ(snapshot.gpus[0].info.uuid, other.uuid);
  EXPECT_TRUE(snapshot.gpus[0].xids.empty());
  EXPECT_EQ(snapshot.gpus[0].readings.get(FieldId::temperature).reason, Reason::pending);
}

TEST(Store, ACardThatMovedToAnotherAddressKeepsItsXidCounts) {
  RunningStore node(1);
  node.store.on_xid(pci_of(0), 79, node.clock.monotonic());
  device::GpuInfo moved = gpu_info(0);
  moved.pci = pci_of(3);
  node.store.on_inventory({moved});
  const Snapshot snapshot = node.store.snapshot();
  ASSERT_EQ(snapshot.gpus.size(), 1U);
  EXPECT_EQ(snapshot.gpus[0].info.pci, pci_of(3));
  EXPECT_EQ(snapshot.gpus[0].xids.at(79).count, 1U);
}

TEST(Store, AReadingTakenEarlierNeverReplacesALaterOne) {
  RunningStore node(1);
  node.clock.advance(Seconds(10));
  const MonotonicTime later = node.clock.monotonic();
  const MonotonicTime earlier{later.since_boot - Seconds(4)};
  node.store.on_readings(pci_of(0), {{{}, FieldId::temperature, Reading::of(41.0, later)}});
  node.store.on_readings(pci_of(0), {{{}, FieldId::temperature, Reading::of(39.0, earlier)},
                                     {{}, FieldId::power, Reading::of(70.0, earlier)}});
  const GpuSnapshot gpu = node.store.snapshot().gpus[0];
  EXPECT_EQ(gpu.readings.get(FieldId::temperature).value, Value(41.0));
  EXPECT_EQ(gpu.readings.get(FieldId::power).value, Value(70.0));
}

TEST(Store, TwoEqualXidsInARowAreTwo) {
  RunningStore node(1);
  node.store.on_xid(pci_of(0), 31, node.clock.monotonic());
  node.store.on_xid(pci_of(0), 31, node.clock.monotonic());
  const MonotonicTime first = node.clock.monotonic();
  node.clock.advance(Seconds(1));
  node.store.on_xid(pci_of(0), 79, node.clock.monotonic());
  const GpuSnapshot gpu = node.store.snapshot().gpus[0];
  EXPECT_EQ(gpu.xids.at(31).count, 2U);
  EXPECT_EQ(gpu.xids.at(31).last, first);
  EXPECT_EQ(gpu.xids.at(79).last, node.clock.monotonic());
}

TEST(Store, ReadingsOfAMigDeviceFollowItsUuidWhenTheListChanges) {
  RunningStore node(1);
  device::GpuInfo info = gpu_info(0);
  info.mig_enabled = true;
  info.migs = {{.uuid = "MIG-a", .profile = "1g.10gb"}, {.uuid = "MIG-b", .profile = "2g.20gb"}};
  node.store.on_inventory({info});
  const auto tell = [&](std::uint32_t mig, std::int64_t used) {
    node.store.on_readings(pci_of(0), {{.target = {EntityKind::mig, mig},
                                        .field = FieldId::memory_used,
                                        .reading = Reading::of(used, node.clock.monotonic())}});
  };
  tell(0, 100);
  tell(1, 200);
  info.migs.erase(info.migs.begin());
  node.store.on_inventory({info});
  const GpuSnapshot gpu = node.store.snapshot().gpus[0];
  ASSERT_EQ(gpu.migs.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(gpu.migs.at(0).get(FieldId::memory_used).value), 200);
}

TEST(Store, ANumberThatIsNoneIsInvalidAndOneFromTheFutureIsTakenNow) {
  RunningStore node(1);
  node.store.on_readings(
      pci_of(0),
      {gpu_reading(FieldId::power,
                   Reading::of(std::numeric_limits<double>::quiet_NaN(), node.clock.monotonic())),
       gpu_reading(FieldId::temperature,
                   Reading::of(std::int64_t{40}, node.clock.monotonic() + Seconds(1000)))});
  EXPECT_EQ(node.get(0, FieldId::power).reason, Reason::invalid);
  EXPECT_TRUE(node.get(0, FieldId::temperature).ok());
  node.clock.advance(Seconds(6));
  EXPECT_EQ(node.get(0, FieldId::temperature).reason, Reason::stale);
}

TEST(Store, ProcessesOfAGpuThatHangsAreNotShown) {
  RunningStore node(1);
  const Reading count = Reading::of(std::int64_t{1}, node.clock.monotonic());
  node.store.on_processes(pci_of(0), count, {{.pid = 42, .name = "python3"}});
  EXPECT_EQ(node.store.snapshot().gpus[0].processes.size(), 1U);
  node.store.on_gpu_state(pci_of(0), GpuState::hung, "");
  EXPECT_TRUE(node.store.snapshot().gpus[0].processes.empty());
  EXPECT_EQ(node.store.snapshot().gpus[0].process_outcome.reason, Reason::hung);
}

TEST(Store, OwnersAndPortsOfALookThatHangsAreNotForEver) {
  const PciAddress nic{};
  ManualClock clock;
  Store store(
      clock,
      {.hostname = "node1", .attribution_period = Seconds(10), .devices_period = Seconds(60)});
  Attribution told{.processes = {.reason = Reason::ok}, .pods = {.reason = Reason::no_source}};
  told.holds["GPU-0"] = {{}};
  store.on_attribution(told);
  store.on_node_devices({.nics = {{.name = "mlx5_0", .pci = nic, .port_state = "ACTIVE"}}});
  clock.advance(Seconds(30));
  EXPECT_EQ(store.snapshot().attribution->processes.reason, Reason::ok);
  clock.advance(Seconds(1));
  const Snapshot late = store.snapshot();
  EXPECT_EQ(late.attribution->processes.reason, Reason::stale);
  EXPECT_THAT(late.attribution->processes.detail, testing::HasSubstr("31 s ago"));
  EXPECT_EQ(late.attribution->pods.reason, Reason::no_source) << "there is no kubelet to hang";
  EXPECT_TRUE(late.attribution->holds.empty());
  EXPECT_EQ(late.devices->nics.at(0).port_state, "ACTIVE");
  clock.advance(Seconds(150));
  const Snapshot later = store.snapshot();
  EXPECT_EQ(later.devices->nics.at(0).port_state, "");
  EXPECT_EQ(later.devices->nics.at(0).pci, nic) << "where it hangs is known";
  EXPECT_NE(later.devices->nics_problem, "");
  store.on_attribution(told);
  EXPECT_EQ(store.snapshot().attribution->processes.reason, Reason::ok) << "it came back";
}

TEST(Store, NodeReadingsGrowStaleToo) {
  RunningStore node(0);
  node.store.on_node_readings({{FieldId::cpu_busy, Reading::of(12.5, node.clock.monotonic())}});
  EXPECT_TRUE(node.store.snapshot().node.get(FieldId::cpu_busy).ok());
  node.clock.advance(Seconds(6));
  EXPECT_EQ(node.store.snapshot().node.get(FieldId::cpu_busy).reason, Reason::stale);
}

TEST(Store, WritersAndReadersInManyThreadsAgree) {
  RunningStore node(4);
  std::vector<std::jthread> threads;
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    threads.emplace_back([&node, gpu] {
      for (int n = 0; n < 300; ++n) {
        node.read(gpu, FieldId::temperature, n);
        node.store.on_xid(pci_of(gpu), 31, node.clock.monotonic());
      }
    });
  }
  threads.emplace_back([&node] {
    for (int n = 0; n < 100; ++n) EXPECT_EQ(node.store.snapshot().gpus.size(), 4U);
  });
  threads.clear();
  for (const GpuSnapshot& gpu : node.store.snapshot().gpus) EXPECT_EQ(gpu.xids.at(31).count, 300U);
}

}  // namespace
}  // namespace stoker::store
