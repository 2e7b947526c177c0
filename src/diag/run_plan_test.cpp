// A whole run on cards of this host: a sound node passes, and each fault fails the test that is there for it.
#include "diag/run_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "diag/check_nccl.h"
#include "diag/host_card_test_support.h"
#include "diag/judge.h"

namespace stoker::diag {
namespace {

constexpr std::uint32_t run_cards = 4;

Plan whole_plan() {
  Plan plan{.steps = {Step::memory, Step::bandwidth, Step::compute, Step::tensor, Step::pcie,
                      Step::peers, Step::nccl},
            .load_seconds = 1};
  for (std::uint32_t i = 0; i < run_cards; ++i)
    plan.cards.push_back({i, "GPU-" + std::to_string(i)});
  return plan;
}

// With a fault of card 1.
std::vector<Measurement> run_with(const HostFaults& faults,
                                  const std::vector<Step>& steps = whole_plan().steps) {
  Cards cards;
  for (std::uint32_t i = 0; i < run_cards; ++i)
    cards.push_back(small_card(i == 1 ? faults : HostFaults{}, i));
  Plan plan = whole_plan();
  plan.steps = steps;
  std::vector<Measurement> found;
  const std::atomic<bool> stop = false;
  run_plan(
      plan, cards,
      [&found](const Message& message) {
        if (const auto* one = std::get_if<Measurement>(&message)) found.push_back(*one);
      },
      stop);
  return found;
}

// The tests that failed, by card.
std::map<std::uint32_t, std::set<std::string>> failed(const std::vector<Measurement>& found) {
  JudgeInput input;
  for (std::uint32_t i = 0; i < run_cards; ++i) {
    input.cards.push_back({.gpu = i,
                           .name = "NVIDIA H200",
                           .pcie_generation = 5,
                           .pcie_width = 16,
                           .compute_capability = 90});
  }
  std::map<std::uint32_t, std::set<std::string>> out;
  for (const auto& one : judge(found, input)) {
    if (one.verdict == Verdict::fail) out[*one.gpu].insert(one.name);
  }
  return out;
}

using Failures = std::map<std::uint32_t, std::set<std::string>>;

TEST(RunPlan, PassesEveryTestOfSoundCardsAndTellsAllOfThem) {
  HostFaults none;
  const auto found = run_with(none);
  // Memory's rate of a small card is below that of an H200.
  for (const auto& one : found)
    EXPECT_NE(one.outcome, Outcome::wrong) << one.test << ": " << one.reason;
  std::set<std::string> told;
  for (const auto& one : found) told.insert(one.test);
  for (const auto& row : test_rows()) EXPECT_TRUE(told.contains(std::string(row.name))) << row.name;
}

TEST(RunPlan, FindsASlowPcieLink) {
  EXPECT_EQ(failed(run_with({.slow_pcie = 2}, {Step::pcie})),
            (Failures{{1, {"pcie_to_card", "pcie_from_card", "pcie_both"}}}));
}

TEST(RunPlan, FindsClocksThatAreHeldDown) {
  EXPECT_EQ(failed(run_with({.slow_tensor = 2}, {Step::tensor})),
            (Failures{{1, {"tensor_8192", "tensor_16384", "tensor_load"}}}));
}

TEST(RunPlan, FindsSlowMemory) {
  EXPECT_EQ(failed(run_with({.slow_memory = 3}, {Step::bandwidth}))[1],
            (std::set<std::string>{"memory_read", "memory_write", "memory_copy"}));
}

TEST(RunPlan, BlamesASlowLinkOnItsCardAndOnNoOther) {
  const auto found = failed(run_with({.slow_link = 4}, {Step::peers}));
  EXPECT_EQ(found, (Failures{{1, {"peer_copy", "peer_all", "all_reduce"}}}));
}

TEST(RunPlan, BlamesWrongSumsOnTheCardWhoseMemoryGivesThem) {
  // Where the array begins in the memory of a small card; every 1,021st word is looked at.
  const auto found = failed(run_with({.stuck_bit = StuckBit{0, 31, true}}, {Step::peers}));
  EXPECT_EQ(found, (Failures{{1, {"all_reduce"}}}));
}

TEST(RunPlan, FindsWrongSumsOfTheLibraryAtTheCardThatGetsThem) {
  EXPECT_EQ(failed(run_with({.nccl_wrong = true}, {Step::nccl})),
            (Failures{{1, {"nccl_all_reduce"}}}));
}

TEST(RunPlan, FindsALibraryWhoseLastSumsAreThoseOfBefore) {
  const auto found = run_with({.nccl_rests = true}, {Step::nccl});
  ASSERT_EQ(found.size(), 4U);
  for (const auto& one : found) EXPECT_EQ(one.outcome, Outcome::wrong) << one.reason;
}

TEST(RunPlan, HasNothingToTestWhereTheLibraryDoesNotStart) {
  Cards cards;
  for (const std::uint32_t index : {0U, 1U})
    cards.push_back(small_card({.nccl_refuses = true}, index));
  for (const auto& one : check_nccl(cards)) {
    EXPECT_EQ(one.outcome, Outcome::absent);
    EXPECT_EQ(one.reason, "simulated NCCL: it does not start");
  }
}

TEST(RunPlan, TellsHowFastTheLibraryIsBesideOurs) {
  const auto found = run_with({}, {Step::peers, Step::nccl});
  JudgeInput input;
  for (const auto& one : judge(found, input)) {
    if (one.name != "nccl_all_reduce") continue;
    EXPECT_EQ(one.verdict, Verdict::pass);
    EXPECT_EQ(one.reason, "simulated NCCL; all_reduce reaches 100 % of it");
  }
  // All wait for the card whose links are slow.
  for (const auto& one : run_with({.slow_link = 4}, {Step::nccl}))
    EXPECT_NEAR(one.value, found.back().value / 4, found.back().value / 100);
}

TEST(RunPlan, HasNothingToTestWithoutALibraryOrAnotherCard) {
  Cards cards;
  cards.push_back(small_card({.no_nccl = true}, 0));
  for (const std::uint32_t more : {0U, 1U}) {
    if (more == 1) cards.push_back(small_card({.no_nccl = true}, 1));
    for (const auto& one : check_nccl(cards)) {
      EXPECT_EQ(one.outcome, Outcome::absent) << one.reason;
      EXPECT_NE(one.reason, "");
    }
  }
}

TEST(RunPlan, BlamesAnErrorOfOneCardOnNoOther) {
  for (const HostFaults& fault : {HostFaults{.no_memory = true}, HostFaults{.dead = true}}) {
    const auto found = run_with(fault, {Step::peers, Step::nccl});
    EXPECT_EQ(failed(found),
              (Failures{{1, {"peer_copy", "peer_all", "all_reduce", "nccl_all_reduce"}}}));
    for (const auto& one : found) {
      if (one.gpu == 1) continue;
      EXPECT_EQ(one.outcome, Outcome::hindered) << one.test;
      EXPECT_TRUE(one.reason.starts_with("GPU 1 could not take part: ")) << one.reason;
    }
  }
}

TEST(RunPlan, FindsACardThatReachesNoOther) {
  EXPECT_TRUE(failed(run_with({.no_peer = true}, {Step::peers})).at(1).contains("all_reduce"));
}

TEST(RunPlan, FailsEveryTestOfACardWithoutMemoryAndNoneOfTheOthers) {
  const auto found =
      failed(run_with({.no_memory = true},
                      {Step::memory, Step::bandwidth, Step::compute, Step::tensor, Step::pcie}));
  for (const auto& row : test_rows()) {
    if (is_of_all_cards(row.step) || row.name.starts_with("cublas")) continue;
    EXPECT_TRUE(found.at(1).contains(std::string(row.name))) << row.name;
    for (const std::uint32_t other : {0U, 2U, 3U}) {
      const bool failed_there =
          found.contains(other) && found.at(other).contains(std::string(row.name));
      EXPECT_FALSE(failed_there && row.step != Step::bandwidth) << row.name;
    }
  }
}

TEST(RunPlan, FindsWrongCellsOfAProduct) {
  EXPECT_EQ(failed(run_with({.wrong_multiprocessor = 2}, {Step::tensor})),
            (Failures{{1, {"tensor_check"}}}));
}

TEST(RunPlan, TellsNothingMoreOnceItIsToStop) {
  Cards cards;
  cards.push_back(small_card());
  Plan plan = whole_plan();
  std::size_t found = 0;
  const std::atomic<bool> stop = true;
  run_plan(
      plan, cards,
      [&found](const Message& message) {
        found += std::holds_alternative<Measurement>(message) ? 1 : 0;
      },
      stop);
  EXPECT_EQ(found, 0U);
}

TEST(PlanMessages, ComeBackAsTheyWere) {
  Plan plan = whole_plan();
  plan.injection = {.bit_flips = 5, .wrong_multiprocessor = 7};
  plan.simulated.push_back(
      {.facts = {.index = 3, .uuid = "GPU-x", .name = "N", .compute_capability = 90},
       .faults = {.stuck_bit = StuckBit{9, 3, true}, .hangs = true}});
  const auto back = decode(encode(plan));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(encode(*back), encode(plan));
  const Measurement one{.test = "t",
                        .gpu = 2,
                        .peer = "GPU 1",
                        .outcome = Outcome::hindered,
                        .value = 1.5,
                        .unit = "u",
                        .reason = "r",
                        .details = {"a", ""},
                        .began = {Seconds(1)},
                        .ended = {Seconds(2)}};
  const auto same = decode(encode(one));
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(encode(*same), encode(one));
}

TEST(PlanMessages, AreRefusedWhereTheyDoNotHoldTogether) {
  const std::string whole = encode(whole_plan());
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(decode(std::string_view(whole).substr(0, length)).has_value()) << length;
  EXPECT_FALSE(decode(whole + "x").has_value());
}

}  // namespace
}  // namespace stoker::diag
