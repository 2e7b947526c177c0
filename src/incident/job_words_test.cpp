#include "incident/job_words.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "incident/signal.h"

namespace stoker::incident {
namespace {

const Entity card{EntityKind::gpu, "GPU-00000000-0000-4000-8000-000000000001"};
const Entity other{EntityKind::gpu, "GPU-00000000-0000-4000-8000-000000000002"};

Now at(int seconds) {
  return {.monotonic = {Seconds(1000 + seconds)}, .wall = {Seconds(1'700'000'000 + seconds)}};
}

JobWord word(const std::string& verdict, const std::string& confidence, bool blames) {
  return {.job = "10.0.0.1:29500",
          .pids = {70, 71},
          .cards = {card},
          .verdict = verdict,
          .confidence = confidence,
          .blames = blames,
          .summary = "rank 12 never called ALLREDUCE #15",
          .next_step = "look at rank 12",
          .lines = {"NCCL's account: " + verdict, "RAS: rank 12: AllReduce 14"},
          .at = {}};
}

// One launch of two processes on the card.
store::Snapshot running(std::vector<std::uint32_t> pids = {70, 71},
                        const std::string& launch = "10.0.0.1:29500") {
  store::Snapshot snapshot;
  snapshot.gpus.emplace_back().info.uuid = card.id;
  snapshot.gpus.emplace_back().info.uuid = other.id;
  auto owners = std::make_shared<Attribution>();
  for (const auto pid : pids) {
    snapshot.gpus[0].processes.push_back({.pid = pid});
    owners->owners[pid].launch.id = launch;
  }
  snapshot.attribution = std::move(owners);
  return snapshot;
}

Finding finding(const std::string& rule, Severity severity) {
  return {.rule = rule,
          .severity = severity,
          .entity = card,
          .message = "Perhaps a job hangs",
          .cause = "by the cards",
          .evidence = {"job_unclear = 1"}};
}

TEST(JobWords, MakeASuspicionAWarningWhereNcclSaysWhoIsMissing) {
  JobWords words;
  words.hear(word("missing-rank", "likely", true), at(0));
  std::vector<Finding> found = {finding("job-suspect", Severity::info)};
  words.add_to(found, running(), at(1));
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(
      found[0].message,
      "A job hangs, by NCCL's account (missing-rank, likely): rank 12 never called ALLREDUCE #15");
  EXPECT_EQ(found[0].fix, "look at rank 12");
  EXPECT_EQ(found[0].evidence.size(), 3U);
}

TEST(JobWords, NeverMakeASuspicionSurerThanTheyAre) {
  for (const auto& said :
       {word("missing-rank", "possible", false), word("healthy", "likely", false),
        word("unknown", "unknown", false), word("", "", false)}) {
    JobWords words;
    words.hear(said, at(0));
    std::vector<Finding> found = {finding("job-suspect", Severity::info)};
    words.add_to(found, running(), at(1));
    EXPECT_EQ(found[0].severity, Severity::info) << said.verdict;
    EXPECT_EQ(found[0].message, "Perhaps a job hangs");
    if (said.confidence != "likely") {
      EXPECT_EQ(found[0].cause, "by the cards");
    }
    EXPECT_EQ(found[0].evidence.size(), 3U) << "what was said is shown";
  }
}

TEST(JobWords, SayNothingOfOtherCardsOrOtherFindingsOrWhenTheyAreOld) {
  JobWords words;
  words.hear(word("missing-rank", "likely", true), at(0));
  auto elsewhere = finding("job-suspect", Severity::info);
  elsewhere.entity = other;
  std::vector<Finding> found = {elsewhere, finding("gpu-starved", Severity::info)};
  words.add_to(found, running(), at(1));
  EXPECT_EQ(found[0].evidence.size(), 1U);
  EXPECT_EQ(found[1].evidence.size(), 1U);
  found = {finding("job-suspect", Severity::info)};
  words.add_to(found, running(), at(901));
  EXPECT_EQ(found[0].severity, Severity::info);
}

TEST(JobWords, KeepAVerdictWhereTheNextTimeNobodyAnswers) {
  JobWords words;
  words.hear(word("missing-rank", "likely", true), at(0));
  words.hear(word("", "", false), at(300));
  std::vector<Finding> found = {finding("job-suspect", Severity::info)};
  words.add_to(found, running(), at(301));
  EXPECT_EQ(found[0].severity, Severity::warning);
  // That the job goes on takes its place at once.
  words.hear(word("healthy", "likely", false), at(310));
  found = {finding("job-suspect", Severity::info)};
  words.add_to(found, running(), at(311));
  EXPECT_EQ(found[0].severity, Severity::info);
}

TEST(JobWords, SayNothingOfAnotherJobOnTheSameCards) {
  for (const auto& now : {running({70, 71}, "10.0.0.2:29500"), running({80, 81}),
                          running({70, 71, 99}), running({}), store::Snapshot()}) {
    JobWords words;
    words.hear(word("missing-rank", "likely", true), at(0));
    std::vector<Finding> found = {finding("job-suspect", Severity::info)};
    words.add_to(found, now, at(1));
    EXPECT_EQ(found[0].severity, Severity::info);
    EXPECT_EQ(found[0].evidence.size(), 1U);
  }
  // Of those that it was asked of, one has ended.
  JobWords words;
  words.hear(word("missing-rank", "likely", true), at(0));
  std::vector<Finding> found = {finding("job-suspect", Severity::info)};
  words.add_to(found, running({71}), at(1));
  EXPECT_EQ(found[0].severity, Severity::warning);
}

TEST(JobWords, AreForgottenWhenNothingIsFoundAboutTheirJob) {
  JobWords words;
  words.hear(word("missing-rank", "likely", true), at(0));
  std::vector<Finding> none = {finding("gpu-starved", Severity::info)};
  words.add_to(none, running(), at(1));
  std::vector<Finding> found = {finding("job-suspect", Severity::info)};
  words.add_to(found, running(), at(2));
  EXPECT_EQ(found[0].severity, Severity::info);
}

TEST(JobWords, ArePutAsideWhileItIsNotKnownWhoseWorkItIs) {
  JobWords words;
  words.hear(word("missing-rank", "likely", true), at(0));
  std::vector<Finding> found = {finding("job-suspect", Severity::info)};
  words.add_to(found, running({}), at(1));
  EXPECT_EQ(found[0].severity, Severity::info);
  words.add_to(found, running(), at(2));
  EXPECT_EQ(found[0].severity, Severity::warning);
}

TEST(JobWords, KeepNoVerdictOverAWordAboutOtherProcesses) {
  for (const bool job : {true, false}) {
    JobWords words;
    words.hear(word("missing-rank", "likely", true), at(0));
    auto next = word("", "", false);
    if (job)
      next.job = "10.0.0.2:29500";
    else
      next.pids = {71, 72};
    next.lines = {"not asked: refused"};
    words.hear(next, at(1));
    std::vector<Finding> found = {finding("job-suspect", Severity::info)};
    words.add_to(found, running(next.pids, next.job), at(2));
    EXPECT_EQ(found[0].severity, Severity::info);
    EXPECT_EQ(found[0].evidence.back(), "not asked: refused");
  }
}

TEST(JobWords, AreEvidenceOfTheIncidentOnce) {
  Book book;
  JobWords words;
  const NodeView node{
      .hostname = "n1", .reading = true, .gpus = {{.uuid = card.id, .answers = true}}};
  const auto tell = [&](Now now) {
    std::vector<Finding> found = {finding("job-hung", Severity::error)};
    words.add_to(found, running(), now);
    words.tell(book, now);
  };
  words.hear(word("missing-rank", "likely", true), at(0));
  tell(at(0));
  EXPECT_TRUE(book.all().empty()) << "a word opens nothing";
  std::vector<Signal> signals = {
      *signal_of(finding("job-hung", Severity::error), node, at(1).wall)};
  book.find(signals, node, at(1).wall);
  tell(at(1));
  tell(at(2));
  // The same again is no news; another is.
  words.hear(word("missing-rank", "likely", true), at(300));
  tell(at(301));
  ASSERT_EQ(book.all().size(), 1U);
  EXPECT_EQ(book.all()[0].evidence.size(), 3U);
  EXPECT_EQ(book.all()[0].explanation,
            "By NCCL's account (missing-rank, likely): rank 12 never called ALLREDUCE #15");
  words.hear(word("dead-rank", "likely", true), at(600));
  tell(at(601));
  EXPECT_EQ(book.all()[0].evidence.size(), 5U);
  // What is only possible is shown beside it.
  words.hear(word("ib-transport", "possible", false), at(900));
  tell(at(901));
  ASSERT_EQ(book.all()[0].evidence.size(), 7U);
  EXPECT_EQ(book.all()[0].evidence[5].text, "NCCL's account: ib-transport");
  EXPECT_EQ(book.all()[0].explanation,
            "By NCCL's account (dead-rank, likely): rank 12 never called ALLREDUCE #15");
}

}  // namespace
}  // namespace stoker::incident
