// Ground stage: the agent's schedule of active tests as it is told: of each GPU when it was tested, when it will be or what is in
// the way, and how the schedule's last run on it ended. apps/stoker/diag_schedule makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace stoker {

// How a run of the schedule on one card ended.
enum class TestRunEnd : std::uint8_t {
  passed,
  failed,
  hindered,   // the level's tests were made, and of some nobody knows how the card is
  not_made,   // they were not
  not_ended,  // in time, so that it was ended
  given_up,   // for the sake of whoever needs the card, or of the agent's end
};
const char* to_string(TestRunEnd end);  // "given_up"
std::optional<TestRunEnd> test_run_end_of(std::string_view word);
// Is it a test of the card, whatever it found?
constexpr bool is_made(TestRunEnd end) { return end <= TestRunEnd::hindered; }

struct TestRun {
  WallTime began;
  TestRunEnd end = TestRunEnd::not_made;
  std::string reason;  // empty where there is none to tell
  int in_a_row = 1;    // runs that ended so since the last one that was made, with this one
  bool kept = false;   // diag.db has what it found
};

// Where a card of the schedule is.
enum class TestState : std::uint8_t {
  waits,  // for its time
  runs,
  in_use,
  held_by_pod,
  pods_unknown,  // so one may hold it
  unknown,       // what it does is not known, or it is lost or hung
  mig,
  incident,     // one is open that is about it
  maintenance,  // one is planned
  unread,       // diag.db can't be read
  count_
};
const char* to_string(TestState state);  // "held_by_pod"

struct CardTests {
  std::string uuid;
  TestState state = TestState::unknown;
  std::string why;                 // what of `state` there is to say: "process 42 (python3)"
  std::optional<WallTime> tested;  // when all tests of the level were made last, whoever ran them
  std::optional<WallTime> next;    // the soonest, if nobody uses it until then; only where it waits
  std::optional<TestRun> last;     // by the schedule
};

struct TestSchedule {
  int level = 1;
  Nanoseconds idle{0};
  Nanoseconds every{0};
  std::vector<CardTests> cards;
};

}  // namespace stoker
