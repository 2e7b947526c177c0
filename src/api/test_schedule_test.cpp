// The schedule of tests in the status: when each GPU was and will be tested, what is in the way, and how the last run ended.
#include <gmock/gmock.h>

#include "api/document_reader.h"
#include "api/documents.h"
#include "api/test_schedule_document.h"
#include "api/views.h"

namespace stoker::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr WallTime some_day{Seconds(1'800'000'000)};  // 2027-01-15 08:00:00

store::Snapshot node_with(std::vector<CardTests> cards) {
  store::Snapshot node;
  node.gpus.resize(cards.size());
  for (std::uint32_t n = 0; n < cards.size(); ++n) {
    cards[n].uuid = node.gpus[n].info.uuid = "GPU-" + std::to_string(n);
    node.gpus[n].info.index = n;
  }
  node.tests = std::make_shared<const TestSchedule>(TestSchedule{
      .level = 2, .idle = Seconds(3600), .every = Seconds(604'800), .cards = std::move(cards)});
  return node;
}

std::string status_text(const store::Snapshot& node, bool verbose = false) {
  return view_status(status_document(node, {}), R"({"schema":"stoker.dev/v1/gpu","gpus":[]})", {},
                     verbose)
      .value()
      .text;
}

TEST(TestScheduleStatus, SaysWhenEachCardWasAndWillBeTested) {
  const auto node = node_with({{.state = TestState::waits,
                                .tested = some_day,
                                .next = WallTime{Seconds(1'800'604'800)},
                                .last = TestRun{.began = some_day, .end = TestRunEnd::passed}}});
  const auto document = status_document(node, {});
  EXPECT_THAT(
      document,
      HasSubstr(
          R"("tests":{"level":2,"idle_seconds":3600,"every_seconds":604800,"gpus":[{"index":0,"uuid":"GPU-0","state":"waits","why":null,"why_reason":"not_applicable","tested_at":"2027-01-15T08:00:00.000Z","next_at":"2027-01-22T08:00:00.000Z","last_run":{"began_at":"2027-01-15T08:00:00.000Z","end":"passed","why":null,"why_reason":"not_applicable","in_a_row":1}}]})"));
  EXPECT_THAT(status_text(node),
              HasSubstr("level 2 on a GPU that was idle for 1 h 0 min, every 7 d 0 h"));
  EXPECT_THAT(status_text(node), HasSubstr("0  2027-01-15 08:00:00  2027-01-22 08:00:00  passed"));
}

TEST(TestScheduleStatus, SaysWhyACardWaitsAndThatItsTestIsAlwaysGivenUp) {
  const auto text = status_text(node_with({{.state = TestState::held_by_pod,
                                            .why = "pod team/train-0",
                                            .last = TestRun{.began = some_day,
                                                            .end = TestRunEnd::given_up,
                                                            .reason = "process 42 is on GPU 0",
                                                            .in_a_row = 3}}}));
  EXPECT_THAT(text, HasSubstr("0  never   pod team/train-0  given up, 3 times: process 42 is on "
                              "GPU 0"));
}

TEST(TestScheduleStatus, SaysThatThereIsNoneWhereItIsAskedFor) {
  store::Snapshot node;
  EXPECT_THAT(status_document(node, {}),
              HasSubstr(R"("tests":null,"tests_reason":"not_applicable")"));
  EXPECT_THAT(status_text(node), Not(HasSubstr("tests")));
  EXPECT_THAT(status_text(node, true), HasSubstr("no idle GPU is tested (diag.idle is 0s)"));
}

}  // namespace
}  // namespace stoker::api
