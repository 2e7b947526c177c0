// Whatever goes wrong in whatever order: the rules of docs/specs/probe.md hold, nothing is told that is
// not so, and once everything is well again the node says so.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "device/probe/probe_lifecycle.h"
#include "device/probe/probe_world_test_support.h"

namespace stoker::device::probe {
namespace {

constexpr int gpus = 3;

enum class Act {
  hang,
  hang_open,
  lose,
  recover,
  lock,
  unlock,
  make_immortal,
  kill,
  stop,
  release,
  resume,
  reload,
  one_lock,
  refuse,
  accept,
  agent_sleeps,
  count_,
};

struct Mishap {
  Act act;
  int gpu;
  int seconds;  // until the next one
};

void show(const std::vector<Mishap>& mishaps, std::ostream& out) {
  for (const Mishap& mishap : mishaps) {
    out << static_cast<int>(mishap.act) << "/" << mishap.gpu << "/" << mishap.seconds << "s ";
  }
}

void happen(ProbeWorld& world, const Mishap& mishap) {
  const PciAddress gpu = gpu_address(mishap.gpu);
  FakeDriver& driver = world.driver;
  const bool runs = world.lifecycle().main() != 0;
  switch (mishap.act) {
    case Act::hang: driver.hanging.insert(gpu); break;
    case Act::hang_open: driver.hanging_open.insert(gpu); break;
    case Act::lose: driver.lost.insert(gpu); break;
    case Act::recover:
      driver.hanging.erase(gpu);
      driver.hanging_open.erase(gpu);
      driver.lost.erase(gpu);
      break;
    case Act::lock: driver.locked = true; break;
    case Act::unlock: driver.locked = false; break;
    case Act::make_immortal: driver.uninterruptible = !driver.uninterruptible; break;
    case Act::kill:
      if (runs) world.kill_main();
      break;
    case Act::stop:
      if (runs) world.stop_main();
      break;
    case Act::release: world.release(); break;
    case Act::resume: world.resume(); break;
    case Act::reload: world.reload_driver(); break;
    case Act::one_lock: driver.one_lock = !driver.one_lock; break;
    case Act::refuse: driver.refuses = SourceState::driver_missing; break;
    case Act::accept: driver.refuses.reset(); break;
    case Act::agent_sleeps: world.agent_sleeps(Seconds(mishap.seconds)); break;
    case Act::count_: break;
  }
}

void check_rules(const ProbeWorld& world) {
  RC_ASSERT(world.most_living <= 2U);
  for (const auto& [number, age] : world.signalled_at) {
    RC_ASSERT(number != SIGTERM || age >= Seconds(60));
    RC_ASSERT(number != SIGKILL || age >= Seconds(120));
  }
  // What was told before a time without a driver is no longer told; a call then has ten seconds.
  if (world.status().state != SourceState::running) return;
  if (world.now() - world.status().since < Seconds(22)) return;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    // Starting anew takes a moment, and a call has ten seconds.
    RC_ASSERT(world.state(gpu) != GpuState::present || world.age(gpu) <= Seconds(22));
  }
}

std::vector<Mishap> any_mishaps() {
  std::vector<Mishap> all;
  const int count = *rc::gen::inRange(1, 25);
  for (int index = 0; index < count; ++index) {
    all.push_back({static_cast<Act>(*rc::gen::inRange(0, static_cast<int>(Act::count_))),
                   *rc::gen::inRange(0, gpus), *rc::gen::inRange(0, 130)});
  }
  return all;
}

RC_GTEST_PROP(ProbeLifecycle, KeepsItsRulesAndRecoversWhateverHappens, ()) {
  const std::vector<Mishap> mishaps = any_mishaps();
  std::ostringstream text;
  show(mishaps, text);
  RC_LOG() << text.str() << "\n";
  ProbeWorld world(gpus);
  world.pass(Seconds(10));
  for (const Mishap& mishap : mishaps) {
    happen(world, mishap);
    for (int second = 0; second < mishap.seconds; ++second) {
      world.pass(Seconds(1));
      check_rules(world);
    }
  }
  world.driver = FakeDriver{.gpus = world.driver.gpus};
  world.resume();
  // A stuck process has up to 120 s, and the next look at a GPU up to 300 s.
  const bool recovered = world.pass_until([&] { return world.ran_well(); }, Seconds(600));
  for (const std::string& line : world.record()) RC_LOG() << line << "\n";
  RC_ASSERT(recovered);
}

}  // namespace
}  // namespace stoker::device::probe
