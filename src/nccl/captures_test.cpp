// Four real runs, of each source alone and together: tests/fixtures/captures/README.md.
#include <algorithm>
#include <filesystem>
#include <map>

#include "nccl/nccl_test_support.h"

namespace stoker::nccl {
namespace {

std::string verdict_of(const std::vector<std::string>& names) {
  const auto verdicts = judge_captures(names);
  EXPECT_EQ(verdicts.size(), 1U);
  return said(verdicts.front());
}

std::vector<std::string> dumps(const std::string& run) {
  std::vector<std::string> names;
  for (int rank = 0; rank < 4; ++rank)
    names.push_back("h200x4/fr-" + run + "-" + std::to_string(rank) + ".pickle");
  return names;
}

TEST(Captures, NameRankAndClassByTheLogAlone) {
  EXPECT_EQ(verdict_of({"h200x4/nccl-ok.txt"}), "healthy certain");
  EXPECT_EQ(verdict_of({"h200x4/nccl-hang.txt"}), "missing-rank 3 certain");
  EXPECT_EQ(verdict_of({"h200x4/nccl-die.txt"}), "dead-rank 3 certain");
  EXPECT_EQ(verdict_of({"h200x4/nccl-mismatch.txt"}), "collective-mismatch 3 certain");
}

TEST(Captures, NameTheHostOfTheRank) {
  for (const auto* run : {"hang", "die", "mismatch"}) {
    const auto verdicts = judge_captures({std::string("h200x4/nccl-") + run + ".txt"});
    EXPECT_EQ(verdicts.front().hosts, std::vector<std::string>{"node-a"}) << run;
    EXPECT_EQ(verdicts.front().size, 4);
  }
}

TEST(Captures, NameRankAndClassByTheDumpsAlone) {
  EXPECT_EQ(verdict_of(dumps("hang")), "missing-rank 3 certain");
  EXPECT_EQ(verdict_of(dumps("mismatch")), "collective-mismatch 3 certain");
}

TEST(Captures, NameTheRankWhoseDumpIsMissingAndSaySo) {
  auto names = dumps("hang");
  names.pop_back();
  const auto verdict = judge_captures(names).front();
  EXPECT_EQ(said(verdict), "missing-rank 3 possible");
  ASSERT_FALSE(verdict.limits.empty());
  EXPECT_EQ(verdict.limits.front(), "dumps are here of 3 of 4 ranks");
}

TEST(Captures, NameRankAndClassByRasAlone) {
  EXPECT_EQ(verdict_of({"h200x2-hang/nccl-ras-hang.txt"}), "missing-rank 1 likely");
}

// Ten runs of two ranks, each failing in its own way or not at all: h200x2-failures.
TEST(Captures, OfTwoCardsNameEachFailureByAllThatItLeft) {
  const std::map<std::string, std::string> expected = {
      {"desync", "missing-rank 1 certain"},
      {"ifname", "wrong-interface 0 certain"},
      {"ok", "healthy certain"},
      {"oom", "oom 1 certain"},
      {"order", "collective-mismatch 0 1 possible"},
      {"p2p", "missing-rank 0 likely"},
      {"raise", "user-code 1 certain"},
      {"shape", "collective-mismatch 0 1 certain"},
      {"sigkill", "missing-rank 1 likely"},
      {"slow", "healthy certain"}};
  for (const auto& [run, verdict] : expected) {
    std::vector<std::string> names;
    const std::filesystem::path folder =
        STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x2-failures/" + run;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      names.push_back("h200x2-failures/" + run + "/" + file.path().filename().string());
    std::ranges::sort(names);
    EXPECT_EQ(said(judge_captures(names).front()), verdict) << run;
  }
}

TEST(Captures, OfTwoCardsBlameNobodyByAMomentOfASlowJob) {
  EXPECT_EQ(verdict_of({"h200x2-failures/slow/ras.json"}), "missing-rank 1 possible");
  EXPECT_EQ(verdict_of({"h200x2-failures/p2p/fr-0", "h200x2-failures/p2p/fr-1"}),
            "missing-rank 0 likely");
}

TEST(Captures, OfOneRunAreOneJobAndOfSeveralRunsAreSeveral) {
  std::vector<std::string> names = {"h200x4/nccl-die.txt", "h200x4/nccl-hang.txt",
                                    "h200x4/nccl-mismatch.txt", "h200x4/nccl-ok.txt"};
  for (const auto* run : {"hang", "mismatch"}) {
    for (const auto& name : dumps(run)) names.push_back(name);
  }
  names.emplace_back("h200x2-hang/nccl-ras-hang.txt");
  const auto verdicts = judge_captures(names);
  ASSERT_EQ(verdicts.size(), 5U);
  const std::vector<std::pair<std::string, std::size_t>> expected = {
      {"dead-rank 3 certain", 1},
      {"missing-rank 3 certain", 5},
      {"collective-mismatch 3 certain", 5},
      {"healthy certain", 1},
      {"missing-rank 1 likely", 1}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(said(verdicts[i]), expected[i].first);
    EXPECT_EQ(verdicts[i].files.size(), expected[i].second);
  }
}

TEST(Captures, OfTwoRunsOneAfterTheOtherInOneFileAreTwoJobs) {
  Facts facts;
  const std::string folder = STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x4/";
  read_text(facts, "log",
            content_of(folder + "nccl-die.txt") + content_of(folder + "nccl-hang.txt"));
  const auto verdicts = judge(facts);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(said(verdicts[0]), "dead-rank 3 certain");
  EXPECT_EQ(said(verdicts[1]), "missing-rank 3 certain");
}

TEST(Captures, ReadTheSameInAnyPieces) {
  const auto text = content_of(STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x4/nccl-hang.txt");
  for (const std::size_t piece : {1U, 7U, 4096U}) {
    Facts facts;
    LogReader reader(facts, "log");
    for (std::size_t at = 0; at < text.size(); at += piece)
      reader.add(std::string_view(text).substr(at, piece));
    reader.finish();
    EXPECT_EQ(said(judge(facts).front()), "missing-rank 3 certain") << piece;
  }
}

TEST(Captures, ReadTheSameWithColoursCarriageReturnsAndAnyLaunchersFront) {
  const auto text = content_of(STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x4/nccl-hang.txt");
  for (const std::string front : {"(Worker pid=958) ", "2026-11-27T21:52:30.5Z stderr F ",
                                  "[default0]:", "worker-0: ", "\x1b[36m(a)\x1b[0m "}) {
    std::istringstream lines(text);
    std::string changed;
    for (std::string line; std::getline(lines, line);) changed += front + line + "\r\n";
    const auto verdict = judge_text(changed);
    EXPECT_EQ(said(verdict), "missing-rank 3 certain") << front;
  }
}

// A log may be cut anywhere, as that of a job that still runs; what it shows so far must not be more than it is.
TEST(Captures, BlameNobodyForSureInAnyBeginningOfAGoodRun) {
  const auto text = content_of(STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x4/nccl-ok.txt");
  for (std::size_t end = 0; end < text.size(); end += 13) {
    const auto verdict = judge_text(text.substr(0, end));
    const bool blames = verdict.verdict != Class::healthy && verdict.verdict != Class::unknown;
    EXPECT_LE(verdict.confidence, blames ? Confidence::possible : Confidence::certain)
        << end << ' ' << verdict.summary;
  }
}

TEST(Captures, ReadAnyBeginningOfABadRunWithoutAnotherBlame) {
  for (const auto* run : {"hang", "die", "mismatch"}) {
    const auto text = content_of(
        std::string(STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x4/nccl-") + run + ".txt");
    for (std::size_t end = 0; end < text.size(); end += 101) {
      const auto verdict = judge_text(text.substr(0, end));
      if (verdict.confidence < Confidence::likely || verdict.verdict == Class::healthy) continue;
      EXPECT_EQ(verdict.ranks, std::vector<int>{3}) << run << ' ' << end << ' ' << verdict.summary;
    }
  }
}

TEST(Captures, CutDumpsAreNamed) {
  const auto whole =
      content_of(STOKER_SOURCE_DIR "/tests/fixtures/captures/h200x4/fr-hang-0.pickle");
  for (std::size_t end = 64; end < whole.size(); end += 37) {
    Facts facts;
    read_text(facts, "fr-0.pickle", std::string_view(whole).substr(0, end));
    EXPECT_NE(facts.files[0].damage, "") << end;
  }
}

}  // namespace
}  // namespace stoker::nccl
