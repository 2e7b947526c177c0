#include "incident/job_words.h"

#include <gtest/gtest.h>

#include <string>
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
  return {.cards = {card},
          .verdict = verdict,
          .confidence = confidence,
          .blames = blames,
          .summary = "rank 12 never called ALLREDUCE #15",
          .next_step = "look at rank 12",
          .lines = {"NCCL's account: " + verdict, "RAS: rank 12: AllReduce 14"},
          .at = {}};
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
  words.add_to(found, at(1));
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
    words.add_to(found, at(1));
    EXPECT_EQ(found[0].severity, Severity::info) << said.verdict;
    EXPECT_EQ(found[0].message, "Perhaps a job hangs");
    EXPECT_EQ(found[0].evidence.size(), 3U) << "what was said is shown";
  }
}

TEST(JobWords, SayNothingOfOtherCardsOrOtherFindingsOrWhenTheyAreOld) {
  JobWords words;
  words.hear(word("missing-rank", "likely", true), at(0));
  auto elsewhere = finding("job-suspect", Severity::info);
  elsewhere.entity = other;
  std::vector<Finding> found = {elsewhere, finding("gpu-starved", Severity::info)};
  words.add_to(found, at(1));
  EXPECT_EQ(found[0].evidence.size(), 1U);
  EXPECT_EQ(found[1].evidence.size(), 1U);
  found = {finding("job-suspect", Severity::info)};
  words.add_to(found, at(901));
  EXPECT_EQ(found[0].severity, Severity::info);
}

TEST(JobWords, KeepAVerdictWhereTheNextTimeNobodyAnswers) {
  JobWords words;
  words.hear(word("missing-rank", "likely", true), at(0));
  words.hear(word("", "", false), at(300));
  std::vector<Finding> found = {finding("job-suspect", Severity::info)};
  words.add_to(found, at(301));
  EXPECT_EQ(found[0].severity, Severity::warning);
  // That the job goes on takes its place at once.
  words.hear(word("healthy", "likely", false), at(310));
  found = {finding("job-suspect", Severity::info)};
  words.add_to(found, at(311));
  EXPECT_EQ(found[0].severity, Severity::info);
}

TEST(JobWords, AreEvidenceOfTheIncidentOnce) {
  Book book;
  JobWords words;
  const NodeView node{
      .hostname = "n1", .reading = true, .gpus = {{.uuid = card.id, .answers = true}}};
  words.hear(word("missing-rank", "likely", true), at(0));
  words.tell(book, at(0));
  EXPECT_TRUE(book.all().empty()) << "a word opens nothing";
  std::vector<Signal> signals = {
      *signal_of(finding("job-hung", Severity::error), node, at(1).wall)};
  book.find(signals, node, at(1).wall);
  words.tell(book, at(1));
  words.tell(book, at(2));
  // The same again is no news; another is.
  words.hear(word("missing-rank", "likely", true), at(300));
  words.tell(book, at(301));
  ASSERT_EQ(book.all().size(), 1U);
  EXPECT_EQ(book.all()[0].evidence.size(), 3U);
  EXPECT_EQ(book.all()[0].explanation,
            "By NCCL's account (missing-rank, likely): rank 12 never called ALLREDUCE #15");
  words.hear(word("dead-rank", "likely", true), at(600));
  words.tell(book, at(601));
  EXPECT_EQ(book.all()[0].evidence.size(), 5U);
}

}  // namespace
}  // namespace stoker::incident
