// The worker process as its parent sees it: a card that hangs, a worker that dies, a program that is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "diag/worker_run.h"
#include "support/stoker_process.h"

namespace stoker::test {
namespace {

using namespace std::chrono_literals;

diag::Plan two_cards(const diag::HostFaults& faults_of_second) {
  diag::Plan plan{.steps = {diag::Step::memory}};
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::string uuid = "GPU-" + std::to_string(i);
    plan.cards.push_back({i, uuid});
    plan.simulated.push_back({.facts = {.index = i,
                                        .uuid = uuid,
                                        .compute_capability = 90,
                                        .multiprocessors = 2,
                                        .shared_bytes = 1 << 16,
                                        .memory_bytes = 8 << 20,
                                        .simulated = true},
                              .faults = i == 1 ? faults_of_second : diag::HostFaults{}});
  }
  return plan;
}

diag::WorkerOptions built_program() {
  return {.program = STOKER_BINARY_DIR "/bin/stoker",
          .allowed_scale = 0.05 * slowdown,
          .least_allowed = Seconds(0),
          .term_after = Milliseconds(200),
          .kill_after = Seconds(5)};
}

diag::Measurement found(const diag::RunReport& report, std::uint32_t gpu) {
  for (const auto& one : report.found) {
    if (one.gpu == gpu && one.test == "memory_pattern") return one;
  }
  return {.test = "not there"};
}

TEST(DiagWorker, TellsEveryTestOfSoundCards) {
  const auto report = diag::run_in_worker(two_cards({}), built_program(), {});
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.found.size(), 4U);
  for (const auto& one : report.found)
    EXPECT_EQ(one.outcome, diag::Outcome::measured) << one.reason;
}

TEST(DiagWorker, FailsTheCardThatDoesNotReturnAndEndsTheWorker) {
  const auto began = std::chrono::steady_clock::now();
  const auto report = diag::run_in_worker(two_cards({.hangs = true}), built_program(), {});
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
  EXPECT_EQ(found(report, 1).outcome, diag::Outcome::wrong);
  EXPECT_EQ(found(report, 1).reason, "did not return");
  EXPECT_EQ(found(report, 0).outcome, diag::Outcome::measured);  // it was done by then
}

TEST(DiagWorker, BlamesNoCardForALibraryThatDoesNotReturn) {
  auto plan = two_cards({.nccl_hangs = true});
  plan.steps = {diag::Step::peers, diag::Step::nccl};
  const auto report = diag::run_in_worker(plan, built_program(), {});
  EXPECT_EQ(report.found.size(), 8U);
  for (const auto& one : report.found) {
    const bool of_library = one.test == "nccl_all_reduce";
    EXPECT_EQ(one.outcome, of_library ? diag::Outcome::hindered : diag::Outcome::measured)
        << one.test;
    if (of_library) {
      EXPECT_EQ(one.reason, "the library did not return; whether a card is to blame is not known");
    }
  }
}

TEST(DiagWorker, GivesNoCallOfTheDriverUpBeforeTheDriverDoes) {
  const diag::WorkerOptions usual;
  EXPECT_GE(usual.least_allowed, Nanoseconds(Seconds(45)));
  EXPECT_GE(usual.term_after, Nanoseconds(Seconds(45)));
  EXPECT_GE(usual.kill_after, Nanoseconds(Seconds(120)));
  auto options = built_program();
  options.least_allowed = Seconds(2);
  const auto began = std::chrono::steady_clock::now();
  diag::run_in_worker(two_cards({.hangs = true}), options, {});
  EXPECT_GE(std::chrono::steady_clock::now() - began, 2s);
}

TEST(DiagWorker, LeavesNothingUnsaidWhenItIsStopped) {
  diag::RunWatch watch;
  bool asked = false;  // once
  watch.stop = [&asked] { return !std::exchange(asked, true); };
  const auto report = diag::run_in_worker(two_cards({.hangs = true}), built_program(), watch);
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.found.size(), 4U);
  EXPECT_EQ(found(report, 1).outcome, diag::Outcome::hindered);
}

TEST(DiagWorker, SaysThatTheWorkerDied) {
  auto options = built_program();
  options.program = "/bin/true";
  const auto report = diag::run_in_worker(two_cards({}), options, {});
  EXPECT_NE(report.problem, "");
  for (const auto& one : report.found) EXPECT_EQ(one.outcome, diag::Outcome::hindered);
  EXPECT_EQ(report.found.size(), 4U);
}

TEST(DiagWorker, OpensNoCardWhereThePlanNamesNone) {
  diag::Plan plan{.steps = {diag::Step::memory}};
  const auto report = diag::run_in_worker(plan, built_program(), {});
  EXPECT_NE(report.problem.find("names no card"), std::string::npos) << report.problem;
  EXPECT_TRUE(report.found.empty());
}

TEST(DiagWorker, SaysWhyThereIsNoCardWithoutTheCudaDriver) {
  auto plan = two_cards({});
  plan.simulated.clear();
  const auto report = diag::run_in_worker(plan, built_program(), {});
  EXPECT_NE(found(report, 0).reason, "");
  EXPECT_EQ(found(report, 0).outcome, diag::Outcome::hindered);
}

}  // namespace
}  // namespace stoker::test
