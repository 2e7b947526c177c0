// A replay tells what was recorded, at the times at which it was told.
#include "device/record/replay.h"

#include <gmock/gmock.h>

#include "device/record/record_test_support.h"
#include "device/record/recorder.h"
#include "device/tee.h"
#include "export/render.h"
#include "health/node_status.h"
#include "store/store.h"

namespace stoker::device::record {
namespace {

// /metrics of a store, as `stoker up` would serve it now.
std::string metrics_of(const store::Store& store) {
  const auto snapshot = store.snapshot();
  return exporting::render(snapshot, health::evaluate(snapshot, {}), {.version = "test"},
                           exporting::Format::prometheus)
      .text;
}

NodeSink sink_of(store::Store& store) {
  return {[&store](const auto& readings) { store.on_node_readings(readings); },
          [&store](const auto& costs) { store.on_node_costs(costs); },
          [&store](const NodeDevices& devices) { store.on_node_devices(devices); }};
}

// What a node tells, one thing at a time: random, about two GPUs that are known. Its times are sound, as
// a source's are.
Event next_event(MonotonicTime now) {
  What what = random_what();
  if (std::holds_alternative<WallTold>(what)) what = NodeReadings{};  // no source tells that
  if (auto* seen = std::get_if<InventorySeen>(&what)) {
    seen->gpus = {{.pci = some_gpu(0), .uuid = "GPU-0"},
                  {.index = 1, .pci = some_gpu(1), .uuid = "GPU-1"}};
    if (*rc::gen::inRange(0, 3) == 0) seen->gpus.pop_back();
  }
  if (auto* told = std::get_if<ReadingsTold>(&what)) {
    told->gpu = some_gpu(*rc::gen::inRange(0U, 2U));
    for (auto& each : told->readings) each.reading.taken_at = now;
  }
  if (auto* told = std::get_if<StatusTold>(&what)) {
    if (*rc::gen::inRange(0, 4) != 0) told->status.state = SourceState::running;
  }
  return {now, what};
}

class ReplayTest : public ::testing::Test {
 protected:
  Folder folder_;
};

RC_GTEST_FIXTURE_PROP(ReplayTest, GivesTheSameMetricsAsTheRunDid, ()) {
  ManualClock clock;
  store::Store live(clock, {.hostname = "node"});
  const std::string path = folder_.path("r");
  std::filesystem::remove(path);
  auto recorder = Recorder::start(clock, {.path = path}, {.hostname = "node"});
  RC_ASSERT(recorder.has_value());
  Tee tee({&live, recorder->get()});
  const NodeSink into_store = sink_of(live);
  const NodeSink both{
      [&](const auto& readings) {
        into_store.readings(readings), (*recorder)->on_node_readings(readings);
      },
      [&](const auto& costs) { into_store.costs(costs), (*recorder)->on_node_costs(costs); },
      [&](const NodeDevices& seen) {
        into_store.devices(seen), (*recorder)->on_node_devices(seen);
      }};
  tell(Event{{}, StatusTold{{.state = SourceState::running}}}, tee, both);
  tell(Event{{}, InventorySeen{{{.pci = some_gpu(0), .uuid = "GPU-0"}}}}, tee, both);
  // After each event, what the run showed.
  std::vector<std::string> shown;
  for (int left = *rc::gen::inRange(1, 40); left > 0; --left) {
    tell(next_event(clock.monotonic()), tee, both);
    shown.push_back(metrics_of(live));
    clock.advance(Milliseconds(*rc::gen::inRange(0, 8000)));
  }
  (*recorder)->finish("asked to");
  const std::string last = metrics_of(live);

  ManualClock replayed;
  store::Store second(replayed, {.hostname = "node"});
  auto reader = FileReader::open(path);
  RC_ASSERT(reader.has_value());
  std::size_t seen = 0;
  for (const Event& event : events_of(*reader)) {
    replayed.advance(event.told - replayed.monotonic());
    tell(event, second, sink_of(second));
    if (std::holds_alternative<Begin>(event.what) || std::holds_alternative<End>(event.what))
      continue;
    if (seen >= 2) RC_ASSERT(metrics_of(second) == shown.at(seen - 2));
    ++seen;
  }
  RC_ASSERT(seen == shown.size() + 2);
  RC_ASSERT(metrics_of(second) == last);
}

Facts facts_at(Seconds first, Seconds last) {
  Facts facts;
  facts.first = {first};
  facts.last = {last};
  facts.begin.wall = {Seconds(1'700'000'000)};
  return facts;
}

TEST(ReplayClock, GoesSoManyTimesAsFastAndNeverPastItsLimit) {
  ManualClock real;
  ReplayClock clock(facts_at(Seconds(100), Seconds(200)), 20, real);
  real.advance(Seconds(1));
  EXPECT_EQ(clock.monotonic().since_boot, Seconds(100)) << "before it is started";
  clock.start();
  clock.limit({Seconds(150)});
  real.advance(Seconds(1));
  EXPECT_EQ(clock.monotonic().since_boot, Seconds(120));
  EXPECT_EQ(clock.wall().since_epoch, Seconds(1'700'000'020));
  EXPECT_EQ(clock.until({Seconds(150)}), Milliseconds(1500) + Nanoseconds(1));
  real.advance(Seconds(60));
  EXPECT_EQ(clock.monotonic().since_boot, Seconds(150));
  clock.set_wall({Seconds(150)}, {Seconds(7)});
  EXPECT_EQ(clock.wall().since_epoch, Seconds(7));
  EXPECT_LE(clock.until({Seconds(150)}), Nanoseconds(0));
}

// What a listener heard, and the time by the replay's clock when it did.
class Heard final : public Listener {
 public:
  explicit Heard(const Replay& replay) : replay_(replay) {}
  void on_status(const SourceStatus&) override {}
  void on_driver(const DriverInfo&) override {}
  void on_inventory(const std::vector<GpuInfo>&) override {}
  void on_readings(const PciAddress&, const std::vector<TargetReading>&) override {}
  void on_processes(const PciAddress&, const Reading&, const std::vector<ProcessInfo>&) override {}
  void on_gpu_state(const PciAddress&, GpuState, const std::string&) override {}
  void on_costs(const PciAddress&, const std::vector<CallCost>&) override {}
  void on_xid(const PciAddress&, std::uint32_t, MonotonicTime) override {
    times.push_back(replay_.clock().monotonic());
  }
  std::vector<MonotonicTime> times;

 private:
  const Replay& replay_;
};

TEST_F(ReplayTest, TellsEachEventAtItsOwnTimeAndStandsStillAtTheEnd) {
  const MonotonicTime at{Seconds(100)};
  std::vector<Event> events = {{at, Begin{.wall = {Seconds(1'700'000'000)}}}};
  std::vector<MonotonicTime> times;
  for (int n = 0; n < 50; ++n) {
    times.push_back(at + Seconds(n * n));
    events.push_back({times.back(), XidTold{.gpu = some_gpu(0), .xid = 79}});
  }
  events.push_back({at + Seconds(9000), End{}});
  write_all_to(folder_.path("r"), recording_of(events, [] { return false; }));
  auto replay = Replay::open(folder_.path("r"), 1e6);
  ASSERT_TRUE(replay) << replay.error().describe();
  Heard heard(**replay);
  (*replay)->start(heard);
  while (!(*replay)->state().ended) std::this_thread::sleep_for(Milliseconds(1));
  (*replay)->stop();
  EXPECT_EQ(heard.times, times);
  EXPECT_EQ((*replay)->clock().monotonic(), at + Seconds(9000));
  EXPECT_EQ((*replay)->clock().wall().since_epoch, Seconds(1'700'009'000));
  EXPECT_EQ((*replay)->state().position, Seconds(9000));
  EXPECT_EQ((*replay)->state().problem, "");
}

TEST_F(ReplayTest, CanBeStoppedInTheMiddle) {
  const MonotonicTime at{Seconds(100)};
  write_all_to(folder_.path("r"),
               recording_of({{at, Begin{}}, {at + Seconds(86'400), End{}}}, [] { return false; }));
  auto replay = Replay::open(folder_.path("r"), 1);
  ASSERT_TRUE(replay);
  Heard heard(**replay);
  (*replay)->start(heard);
  (*replay)->stop();
  EXPECT_FALSE((*replay)->state().ended);
}

}  // namespace
}  // namespace stoker::device::record
