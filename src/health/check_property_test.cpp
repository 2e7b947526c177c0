// Whatever is read, in whatever order: when a check may fire.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "health/check_test_support.h"
#include "health/checks.h"
#include "model/render.h"

namespace stoker::health {
namespace {

std::vector<Check> hot() {
  return checks_of(
      "checks:\n- {id: hot, title: t, kind: threshold, field: temperature, is: at_least, limit: 80,"
      " for: 10s, clear_for: 5s, severity: error, action: observe, message: m, cause: c, fix: f,"
      " source: s}\n");
}

Reading any_reading(MonotonicTime at) {
  if (*rc::gen::inRange(0, 4) == 0) {
    return Reading::none(Reason(*rc::gen::inRange(1, static_cast<int>(Reason::failed) + 1)), at);
  }
  return Reading::of(static_cast<double>(*rc::gen::inRange(75, 85)), at);
}

RC_GTEST_PROP(CheckProperty, NeverBeginsToFireUnlessItHeldForItsTimeAndHoldsNow, ()) {
  CheckEngine engine(hot());
  TestNode node;
  Nanoseconds held{0};  // known to have held, without a break that is known
  bool held_before = false;
  bool fired_before = false;
  for (int steps = *rc::gen::inRange(1, 80); steps > 0; --steps) {
    const Nanoseconds gap = Seconds(*rc::gen::inRange(0, 8));
    node.pass(gap);
    const Reading reading = any_reading(node.snapshot.taken_at);
    store::ReadingSet fresh;
    fresh.set(FieldId::temperature, reading);
    node.snapshot.gpus[0].readings = fresh;
    const bool holds = reading.ok() && as_double(reading.value) >= 80;
    if (reading.ok() && !holds) held = Nanoseconds{0};
    if (holds && held_before) held += gap;
    held_before = holds;
    const bool fires = !firing(engine.evaluate(node.snapshot)).empty();
    if (fires && !fired_before) {
      RC_ASSERT(holds);
      RC_ASSERT(held >= Seconds(10));
    }
    if (holds && held >= Seconds(10)) RC_ASSERT(fires);
    fired_before = fires;
  }
}

// A snapshot with something of everything.
store::Snapshot anything(MonotonicTime at, unsigned gpus) {
  store::Snapshot snapshot;
  snapshot.hostname = "node1";
  snapshot.source.state = device::SourceState::running;
  snapshot.taken_at = at;
  for (unsigned n = 0; n < gpus; ++n) {
    store::GpuSnapshot gpu;
    gpu.info = store::gpu_info(n);
    gpu.info.slowdown_celsius = *rc::gen::inRange(0, 90);
    gpu.info.max_pcie_width = *rc::gen::inRange(0U, 17U);
    for (int count = *rc::gen::inRange(0, 30); count > 0; --count) {
      const auto id = FieldId(*rc::gen::inRange<std::uint16_t>(0, field_count));
      const bool link = field(id).entity == EntityKind::nvlink;
      auto& set = link ? gpu.nvlinks[*rc::gen::inRange(0U, 3U)] : gpu.readings;
      set.set(id, *rc::gen::inRange(0, 5) == 0
                      ? Reading::none(Reason::stale, at)
                      : Reading::of(std::int64_t{*rc::gen::inRange(0, 200)}, at));
    }
    gpu.xids[*rc::gen::element(13U, 31U, 48U, 74U, 94U)].count = *rc::gen::inRange(0U, 20U);
    snapshot.gpus.push_back(std::move(gpu));
  }
  return snapshot;
}

std::string told(CheckEngine& engine, const store::Snapshot& snapshot) {
  return render_json(engine.evaluate(snapshot));
}

RC_GTEST_PROP(CheckProperty, EqualSequencesGiveEqualFindingsInWhateverOrderTheGpusStand, ()) {
  CheckEngine one(built_in_checks());
  CheckEngine same(built_in_checks());
  CheckEngine turned(built_in_checks());
  MonotonicTime at{Seconds(1000)};
  const unsigned gpus = *rc::gen::inRange(0U, 5U);
  for (int steps = *rc::gen::inRange(1, 12); steps > 0; --steps) {
    at = at + Seconds(*rc::gen::inRange(0, 400));
    store::Snapshot snapshot = anything(at, gpus);
    const std::string first = told(one, snapshot);
    RC_ASSERT(told(same, snapshot) == first);
    std::ranges::reverse(snapshot.gpus);
    RC_ASSERT(told(turned, snapshot) == first);
  }
}

RC_GTEST_PROP(CheckProperty, NothingIsFoundWhereNothingIsKnown, ()) {
  CheckEngine engine(built_in_checks());
  MonotonicTime at{Seconds(1000)};
  const auto why = Reason(*rc::gen::inRange(1, static_cast<int>(Reason::failed) + 1));
  for (int steps = 0; steps < 20; ++steps) {
    at = at + Seconds(*rc::gen::inRange(0, 4000));
    store::Snapshot snapshot = anything(at, 3);
    snapshot.node.mark_all(why, at);
    for (auto& gpu : snapshot.gpus) {
      gpu.xids.clear();
      gpu.process_outcome = Reading::none(why, at);
      gpu.readings.mark_all(why, at);
      for (auto& [link, readings] : gpu.nvlinks) readings.mark_all(why, at);
    }
    for (const Finding& finding : engine.evaluate(snapshot)) {
      RC_ASSERT(finding.rule == "temperature-unreadable");
    }
  }
}

}  // namespace
}  // namespace stoker::health
