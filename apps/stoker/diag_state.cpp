#include "diag_state.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "diag/check_state.h"
#include "health/check_engine.h"
#include "health/node_status.h"
#include "settings_parts.h"

namespace stoker::app {
namespace {

// Cards that the driver has at hand answer in a fraction of it.
constexpr Nanoseconds state_within = Seconds(25);
// What is suspected has not held for long enough yet: most of it has within this.
constexpr Nanoseconds suspected_within = Seconds(35);
constexpr Milliseconds between_looks{500};
constexpr Milliseconds between_questions{50};

void wait_for_next_look(const AskedToStop& stop) {
  const auto until = system_clock().monotonic() + between_looks;
  while (!stop() && system_clock().monotonic() < until)
    std::this_thread::sleep_for(between_questions);
}

}  // namespace

store::Snapshot first_snapshot(const DiagNode& node, const AskedToStop& stop) {
  return node.wait(state_within, stop);
}

diag::StateLook look_once(store::Snapshot snapshot, const config::Settings& settings,
                          const std::vector<std::uint32_t>& gpus) {
  health::CheckEngine engine(checks_of(settings).checks);
  const auto findings =
      health::evaluate(snapshot, expected_of(settings), engine.evaluate(snapshot));
  auto states = diag::check_state(snapshot, findings, gpus);
  return {std::move(snapshot), std::move(states)};
}

diag::StateLook look_until_sure(const DiagNode& node, const config::Settings& settings,
                                const std::vector<std::uint32_t>& gpus, const AskedToStop& stop) {
  health::CheckEngine engine(checks_of(settings).checks);
  const auto began = system_clock().monotonic();
  while (true) {
    auto snapshot = first_snapshot(node, stop);
    const auto findings =
        health::evaluate(snapshot, expected_of(settings), engine.evaluate(snapshot));
    auto states = diag::check_state(snapshot, findings, gpus);
    const bool failed =
        std::ranges::find(states, diag::Verdict::fail, &diag::TestResult::verdict) != states.end();
    const bool is_over = system_clock().monotonic() - began > suspected_within;
    if (failed || is_over || stop() || !diag::is_suspected(snapshot, findings, gpus))
      return {std::move(snapshot), std::move(states)};
    wait_for_next_look(stop);
  }
}

}  // namespace stoker::app
