// Every SM computes the same, or has a name; what a card lacks is not tested, and no pass.
#include "diag/check_compute.h"

#include <gtest/gtest.h>

#include <set>

#include "diag/host_card_test_support.h"

namespace stoker::diag {
namespace {

constexpr ComputeOptions short_run = {.rounds = 2, .repeats = 2};

TEST(CheckCompute, PassesEveryKindWhereEverySmComputesTheSame) {
  const auto card = small_card();
  const auto found = check_compute(*card, short_run);
  EXPECT_EQ(found.size(), static_cast<std::size_t>(Kind::count_));
  for (const auto& one : found)
    EXPECT_EQ(one.outcome, Outcome::measured) << one.test << ": " << one.reason;
}

TEST(CheckCompute, NamesTheSmThatComputesWrongly) {
  const auto card = small_card({.wrong_multiprocessor = 4});
  for (const auto& one : check_compute(*card, short_run)) {
    EXPECT_EQ(one.outcome, Outcome::wrong) << one.test;
    EXPECT_EQ(one.value, 1) << one.test;
    EXPECT_EQ(one.reason, "SM 4 computed wrongly; 6 of 6 SMs were tested") << one.test;
  }
}

TEST(CheckCompute, NamesAnSmThatIsMadeWrongByArgument) {
  const auto card = small_card();
  const auto found = check_compute(*card, {.rounds = 2, .repeats = 1, .wrong_multiprocessor = 2});
  EXPECT_EQ(only(found, "compute_tensor_fp8").reason,
            "SM 2 computed wrongly; 6 of 6 SMs were tested");
}

TEST(CheckCompute, DoesNotTestWhatTheCardIsTooOldFor) {
  const auto card = make_host_card({.facts = {.compute_capability = 75,
                                              .multiprocessors = 2,
                                              .shared_bytes = 1024,
                                              .memory_bytes = 1 << 20,
                                              .simulated = true}});
  const auto found = check_compute(*card, short_run);
  EXPECT_EQ(only(found, "compute_tensor_fp16").outcome, Outcome::measured);
  EXPECT_EQ(only(found, "compute_tensor_bf16").outcome, Outcome::absent);
  EXPECT_EQ(only(found, "compute_tensor_fp8").outcome, Outcome::absent);
  EXPECT_NE(only(found, "compute_tensor_fp8").reason.find("8.9"), std::string::npos);
}

TEST(CheckCompute, FailsWhereTheCardAnswersNothingOrHasNoMemory) {
  for (const HostFaults& faults : {HostFaults{.no_memory = true}, HostFaults{.dead = true}}) {
    const auto card = small_card(faults);
    for (const auto& one : check_compute(*card, short_run))
      EXPECT_EQ(one.outcome, faults.dead ? Outcome::wrong : Outcome::no_room) << one.test;
  }
}

TEST(CheckCompute, IsHinderedWhereTheSmThatWasToBeWrongIsNotThere) {
  const auto card = small_card();
  ComputeOptions options = short_run;
  options.wrong_multiprocessor = 6;  // it has 0 to 5
  for (const auto& one : check_compute(*card, options)) {
    const bool left_out = one.test == "compute_tensor_fp8" && one.outcome == Outcome::absent;
    EXPECT_TRUE(left_out || one.outcome == Outcome::hindered) << one.test;
  }
}

TEST(CheckCompute, HasAnotherReferenceForEachKindAndSeed) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Kind::count_); ++i) {
    for (const std::uint32_t seed : {1U, 2U}) {
      seen.insert(reference_digest(static_cast<Kind>(i), 64, 3, seed));
    }
  }
  EXPECT_EQ(seen.size(), 2U * static_cast<std::size_t>(Kind::count_));
}

// Known answers: fp16 and e4m3 of small whole numbers (IEEE 754 binary16; OCP FP8 1.0, table 1).
TEST(SmallNumbers, AreWrittenAsTheFormatsSay) {
  EXPECT_EQ(half_of(1), 0x3c00U);
  EXPECT_EQ(half_of(-4), 0xc400U);
  EXPECT_EQ(half_of(3), 0x4200U);
  EXPECT_EQ(half_of(512), 0x6000U);
}

}  // namespace
}  // namespace stoker::diag
