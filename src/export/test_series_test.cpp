#include "export/test_series.h"

#include <gtest/gtest.h>

#include "export/labels.h"

namespace stoker::exporting {
namespace {

store::Snapshot two_cards() {
  store::Snapshot snapshot;
  snapshot.gpus.resize(2);
  for (std::uint32_t n = 0; n < 2; ++n) {
    snapshot.gpus[n].info.index = n;
    snapshot.gpus[n].info.uuid = "GPU-" + std::to_string(n);
  }
  return snapshot;
}

std::string written(const store::Snapshot& snapshot) {
  std::string text;
  Exposition out(text, Format::prometheus);
  write_tests(out, snapshot, all_gpu_labels(snapshot));
  return text;
}

TEST(TestSeries, SayWhenACardWasAndWillBeTestedOrWhatIsInTheWay) {
  auto snapshot = two_cards();
  TestSchedule schedule{.level = 2};
  schedule.cards = {
      {.uuid = "GPU-0",
       .state = TestState::waits,
       .tested = WallTime{Seconds(1'800'000'000)},
       .next = WallTime{Seconds(1'800'604'800)},
       .last = TestRun{.end = TestRunEnd::passed}},
      {.uuid = "GPU-1",
       .state = TestState::held_by_pod,
       .last = TestRun{.end = TestRunEnd::given_up, .in_a_row = 12}},
  };
  snapshot.tests = std::make_shared<const TestSchedule>(schedule);
  const auto text = written(snapshot);
  for (const char* line :
       {R"(stoker_gpu_test_state{gpu="0",UUID="GPU-0",state="waits"} 1)",
        R"(stoker_gpu_test_state{gpu="0",UUID="GPU-0",state="in_use"} 0)",
        R"(stoker_gpu_test_state{gpu="1",UUID="GPU-1",state="held_by_pod"} 1)",
        R"(stoker_gpu_test_last_timestamp_seconds{gpu="0",UUID="GPU-0"} 1.8e+09)",
        R"(stoker_gpu_test_next_timestamp_seconds{gpu="0",UUID="GPU-0"} 1800604800)",
        R"(stoker_gpu_test_last_run{gpu="0",UUID="GPU-0",end="passed"} 1)",
        R"(stoker_gpu_test_last_run{gpu="1",UUID="GPU-1",end="given_up"} 12)"}) {
    EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos) << line << "\n" << text;
  }
  EXPECT_EQ(text.find(R"(timestamp_seconds{gpu="1")"), std::string::npos)
      << "what is not known has no series";
}

TEST(TestSeries, AreNotThereWithoutASchedule) { EXPECT_EQ(written(two_cards()), ""); }

}  // namespace
}  // namespace stoker::exporting
