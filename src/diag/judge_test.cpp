// From measurements to verdicts: limits, peers, the card's own past, and readings of the same time.
#include "diag/judge.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stoker::diag {
namespace {

JudgeInput h200s(std::uint32_t count) {
  JudgeInput input;
  for (std::uint32_t i = 0; i < count; ++i) {
    input.cards.push_back({.gpu = i,
                           .name = "NVIDIA H200",
                           .uuid = "GPU-" + std::to_string(i),
                           .serial = "S" + std::to_string(i),
                           .pcie_generation = 5,
                           .pcie_width = 16,
                           .compute_capability = 90});
  }
  return input;
}

Measurement rate(const std::string& test, double value, std::uint32_t gpu = 0) {
  return {.test = test,
          .gpu = gpu,
          .value = value,
          .unit = test.starts_with("tensor") ? "operations_per_second" : "bytes_per_second"};
}

TestResult judged(const Measurement& one, const JudgeInput& input = h200s(1)) {
  return judge({one}, input).front();
}

MonotonicTime at(int seconds) { return {Seconds(seconds)}; }

Measurement load(double value = 6e14) {
  Measurement one = rate("tensor_load", value);
  one.began = at(100);
  one.ended = at(110);
  return one;
}

JudgeInput with_samples(std::uint64_t reasons) {
  JudgeInput input = h200s(1);
  for (int second = 95; second < 115; ++second) {
    input.samples[0].push_back({.at = at(second),
                                .power_watts = second >= 100 && second <= 110 ? 690.0 : 80.0,
                                .sm_clock_mhz = 1500,
                                .throttle_reasons = reasons});
  }
  return input;
}

TEST(Judge, PassesARateThatReachesItsShareOfTheFigureAndFailsOneThatDoesNot) {
  EXPECT_EQ(judged(rate("memory_read", 4.5e12)).verdict, Verdict::pass);
  const auto slow = judged(rate("memory_read", 3.9e12));
  EXPECT_EQ(slow.verdict, Verdict::fail);
  EXPECT_EQ(slow.reason, "less than 85 % of 4800 GB/s");
  EXPECT_NE(slow.limit_source.find("https://"), std::string::npos);
}

TEST(Judge, JudgesPcieByWhatCardAndSlotCan) {
  EXPECT_EQ(judged(rate("pcie_to_card", 55e9)).verdict, Verdict::pass);
  EXPECT_EQ(judged(rate("pcie_to_card", 26e9)).verdict, Verdict::fail);  // as on PCIe 4
  JudgeInput untold = h200s(1);
  untold.cards[0].pcie_width = 0;
  EXPECT_EQ(judged(rate("pcie_to_card", 26e9), untold).verdict, Verdict::pass);
  EXPECT_FALSE(judged(rate("pcie_to_card", 26e9), untold).limit.has_value());
}

TEST(Judge, KnowsNoFigureOfAnInstance) {
  JudgeInput input = h200s(1);
  input.cards[0].mig = true;
  EXPECT_EQ(judged(rate("memory_read", 0.5e12), input).verdict, Verdict::pass);
}

TEST(Judge, FailsTheOddOneAmongCardsOfOneKind) {
  const std::vector<Measurement> all = {
      rate("tensor_load", 6e14, 0), rate("tensor_load", 6.1e14, 1), rate("tensor_load", 4.9e14, 2),
      rate("tensor_load", 6e14, 3)};
  std::vector<std::uint32_t> failed;
  for (const auto& one : judge(all, h200s(4))) {
    if (one.verdict == Verdict::fail) failed.push_back(*one.gpu);
  }
  EXPECT_EQ(failed, std::vector<std::uint32_t>{2});
}

TEST(Judge, FailsACardThatHasBecomeSlowerThanItWas) {
  JudgeInput input = h200s(1);
  input.earlier[{"GPU-0", "memory_read"}] = {4.53e12, 4.54e12, 4.55e12};
  EXPECT_EQ(judged(rate("memory_read", 4.5e12), input).verdict, Verdict::pass);
  const auto lower = judged(rate("memory_read", 4.31e12), input);
  EXPECT_EQ(lower.verdict, Verdict::pass);
  EXPECT_EQ(lower.details.front(), "-5.1 % against the median of its last 3 results");
  EXPECT_EQ(judged(rate("memory_read", 4.081e12), input).verdict, Verdict::fail);
  input.earlier[{"GPU-0", "memory_read"}] = {4.6e12, 4.6e12};  // too few to say so
  EXPECT_TRUE(judged(rate("memory_read", 4.1e12), input).details.empty());
}

TEST(Judge, ComparesNoInstanceWithTheWholeCardAndACardWithoutUuidByItsSerial) {
  JudgeInput input = h200s(1);
  input.earlier[{"GPU-0", "memory_read"}] = {4.53e12, 4.54e12, 4.55e12};
  input.cards[0].mig = true;
  EXPECT_EQ(judged(rate("memory_read", 0.6e12), input).verdict, Verdict::pass);
  JudgeInput nameless = h200s(1);
  nameless.cards[0].uuid = "";
  nameless.earlier[{"S0", "memory_read"}] = {4.8e12, 4.8e12, 4.8e12};
  EXPECT_EQ(judged(rate("memory_read", 4.2e12), nameless).verdict, Verdict::fail);
}

TEST(Judge, ComparesNoCardWithAnotherOfItsBoard) {
  JudgeInput input = h200s(2);
  input.cards[1].serial = input.cards[0].serial;
  input.earlier[{key_of(input.cards[1]), "memory_read"}] = {4.8e12, 4.8e12, 4.8e12};
  EXPECT_EQ(judged(rate("memory_read", 4.2e12), input).verdict, Verdict::pass);
}

TEST(Judge, FailsNothingForWhatOthersMayHaveTaken) {
  JudgeInput input = h200s(1);
  input.shared = true;
  EXPECT_TRUE(judged(rate("memory_read", 1e12), input).hindered);
  Measurement none = rate("memory_read", 0);
  none.outcome = Outcome::no_room;
  EXPECT_TRUE(judged(none, input).hindered);
  EXPECT_EQ(judged(none).verdict, Verdict::fail);
}

TEST(Judge, FailsAProductThatNobodyMeasuredBelowHalfOfItsFigureOnly) {
  JudgeInput input = h200s(1);
  input.cards[0].name = "NVIDIA A100-SXM4-80GB";
  const auto told = judged(rate("memory_read", 1.2e12), input);
  EXPECT_EQ(told.verdict, Verdict::pass);
  EXPECT_EQ(told.reason,
            "WARNING: less than 85 % of 2039 GB/s, a share that was not measured on this product");
  EXPECT_EQ(judged(rate("memory_read", 1.0e12), input).verdict, Verdict::fail);
  EXPECT_EQ(judged(rate("memory_read", 1.9e12), input).reason, "");
}

TEST(Judge, HasNoFigureForPairsOfCardsThatShareSomeLinksOnly) {
  JudgeInput input = h200s(1);
  EXPECT_EQ(judged(rate("peer_copy", 130e9), input).verdict, Verdict::fail);
  input.cards[0].direct_links = true;
  EXPECT_EQ(judged(rate("peer_copy", 130e9), input).verdict, Verdict::pass);
}

TEST(Judge, NeverPassesWhatWasNotMeasured) {
  for (const Outcome outcome : {Outcome::absent, Outcome::hindered}) {
    Measurement one = rate("memory_read", 0);
    one.outcome = outcome;
    EXPECT_EQ(judged(one).verdict, Verdict::not_tested);
    EXPECT_EQ(judged(one).hindered, outcome == Outcome::hindered);
  }
  Measurement wrong = rate("memory_read", 9e12);
  wrong.outcome = Outcome::wrong;
  EXPECT_EQ(judged(wrong).verdict, Verdict::fail);
}

TEST(Judge, FailsCardsThatCantReachOneAnotherWhereTheirProductHasNvlink) {
  std::vector<Measurement> all;
  for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
    all.push_back({.test = "peer_copy",
                   .gpu = gpu,
                   .outcome = Outcome::absent,
                   .reason = "the two cards can't reach each other's memory"});
  }
  EXPECT_EQ(judge(all, h200s(2)).front().verdict, Verdict::fail);
  EXPECT_EQ(judge({all.front()}, h200s(2)).front().verdict, Verdict::not_tested);  // --gpu 0
  JudgeInput without = h200s(2);
  for (auto& card : without.cards) card.name = "NVIDIA L4";
  EXPECT_EQ(judge(all, without).front().verdict, Verdict::not_tested);
}

TEST(Judge, TellsThePowerOfALoadAndWhatHeldItsClocksDown) {
  const auto all = judge({load()}, with_samples(0x4));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NEAR(all[0].power_watts.value_or(0), 690, 0.1);
  EXPECT_EQ(all[1].name, "tensor_throttle");
  EXPECT_EQ(all[1].verdict, Verdict::pass);  // at its power limit
  for (const std::uint64_t fault : {0x08U, 0x20U, 0x40U, 0x80U}) {
    EXPECT_EQ(judge({load()}, with_samples(0x4 | fault))[1].verdict, Verdict::fail) << fault;
  }
  const auto unread = judge({load()}, h200s(1))[1];
  EXPECT_EQ(unread.verdict, Verdict::not_tested);
  EXPECT_TRUE(unread.hindered);
}

TEST(ExitCode, SaysWhetherAnythingFailedOrCouldNotBeTested) {
  EXPECT_EQ(exit_code_of({{.verdict = Verdict::pass}, {.verdict = Verdict::not_tested}}), 0);
  EXPECT_EQ(exit_code_of(
                {{.verdict = Verdict::pass}, {.verdict = Verdict::not_tested, .hindered = true}}),
            2);
  EXPECT_EQ(exit_code_of(
                {{.verdict = Verdict::fail}, {.verdict = Verdict::not_tested, .hindered = true}}),
            1);
  EXPECT_EQ(exit_code_of({{.verdict = Verdict::not_tested}}), 2);
  EXPECT_EQ(exit_code_of(
                {{.verdict = Verdict::pass, .is_beside = true}, {.verdict = Verdict::not_tested}}),
            2);
  EXPECT_EQ(exit_code_of({}), 2);
}

}  // namespace
}  // namespace stoker::diag
