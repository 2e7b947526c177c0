// What comes over a card while it works fails it, and what nobody could look at is no pass.
#include "diag/under_load.h"

#include <gtest/gtest.h>

namespace stoker::diag {
namespace {

store::GpuSnapshot worked_card(std::uint32_t index) {
  store::GpuSnapshot gpu;
  gpu.info.index = index;
  gpu.info.uuid = "GPU-" + std::to_string(index);
  gpu.info.pci.bus = index + 1;
  for (const FieldId id : {FieldId::ecc_uncorrected_volatile, FieldId::ecc_corrected_volatile,
                           FieldId::remapped_rows_uncorrectable, FieldId::pcie_replays}) {
    gpu.readings.set(id, Reading::of(std::int64_t{5}, {Seconds(1)}));
  }
  for (const std::uint32_t link : {0U, 1U})
    gpu.nvlinks[link].set(FieldId::nvlink_recovery_errors,
                          Reading::of(std::int64_t{2}, {Seconds(1)}));
  return gpu;
}

TestResult state_of_card(std::uint32_t gpu, Verdict verdict, const std::string& reason = "") {
  return {.name = "state_nvlink",
          .level = 1,
          .gpu = gpu,
          .uuid = "GPU-" + std::to_string(gpu),
          .verdict = verdict,
          .reason = reason};
}

// Two cards, of which nothing came.
UnderLoad quiet_load() {
  UnderLoad out;
  for (auto* look : {&out.before, &out.after}) {
    look->snapshot.source.state = device::SourceState::running;
    look->snapshot.gpus = {worked_card(0), worked_card(1)};
    look->states = {state_of_card(0, Verdict::pass), state_of_card(1, Verdict::pass)};
  }
  out.during = out.before.snapshot;
  out.began = {Seconds(10)};
  out.ended = {Seconds(20)};
  out.gpus = {0, 1};
  for (const std::uint32_t gpu : out.gpus)
    out.samples[gpu] = {{.at = {Seconds(15)}, .throttle_reasons = std::uint64_t{0}}};
  return out;
}

TestResult result_of(const UnderLoad& load, std::uint32_t gpu, const std::string& name) {
  for (const auto& one : check_under_load(load)) {
    if (one.gpu == gpu && one.name == name) return one;
  }
  return {.reason = "not there"};
}

void count(UnderLoad& load, FieldId field, std::int64_t value) {
  load.after.snapshot.gpus[1].readings.set(field, Reading::of(value, {Seconds(30)}));
}

TEST(UnderLoad, PassesNoCardWhoseClocksNobodyRead) {
  auto load = quiet_load();
  load.samples.clear();
  EXPECT_TRUE(result_of(load, 1, "load_state").hindered);
  load.ended = {load.began.since_boot + Seconds(1)};  // too short for that
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::pass);
}

TEST(UnderLoad, PassesCardsOverWhichNothingCame) {
  for (const auto& one : check_under_load(quiet_load()))
    EXPECT_EQ(one.verdict, Verdict::pass) << one.name << one.reason;
  auto only_one = quiet_load();
  only_one.gpus = {1};
  EXPECT_EQ(check_under_load(only_one).size(), 2U);
}

TEST(UnderLoad, FailsTheCardWhoseErrorsRoseAndNoOther) {
  auto load = quiet_load();
  count(load, FieldId::ecc_uncorrected_volatile, 7);
  const auto failed = result_of(load, 1, "load_state");
  EXPECT_EQ(failed.verdict, Verdict::fail);
  EXPECT_EQ(failed.reason, "came under load: 2 uncorrected memory errors");
  EXPECT_EQ(result_of(load, 0, "load_state").verdict, Verdict::pass);
}

TEST(UnderLoad, TellsErrorsThatWereCorrectedAndFailsByRecoveriesOfALink) {
  auto load = quiet_load();
  count(load, FieldId::ecc_corrected_volatile, 8);
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::pass);
  EXPECT_EQ(result_of(load, 1, "load_state").reason,
            "while it worked: 3 memory errors that ECC corrected");
  load.after.snapshot.gpus[1].nvlinks[1].set(FieldId::nvlink_recovery_errors,
                                             Reading::of(std::int64_t{3}, {Seconds(30)}));
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::fail);
}

TEST(UnderLoad, AllowsAsManyPcieRetriesAMinuteAsDcgmDoes) {
  auto load = quiet_load();
  count(load, FieldId::pcie_replays, 13);
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::pass);
  count(load, FieldId::pcie_replays, 14);
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::fail);
  load.ended = {Seconds(130)};
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::pass);
}

TEST(UnderLoad, FailsAStateThatBecameWrongAndNotOneThatWas) {
  auto load = quiet_load();
  load.after.states[1] = state_of_card(1, Verdict::fail, "17 of 18 NVLinks are up");
  EXPECT_EQ(result_of(load, 1, "load_state").reason,
            "came under load: state_nvlink: 17 of 18 NVLinks are up");
  load.before.states[1] = load.after.states[1];
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::pass);
  EXPECT_EQ(result_of(load, 1, "load_state").reason,
            "while it worked: state_nvlink had failed before: 17 of 18 NVLinks are up");
}

TEST(UnderLoad, FailsACardThatIsLostOrNotToldOfAnyMore) {
  auto load = quiet_load();
  load.during.gpus[1].state = device::GpuState::lost;
  EXPECT_EQ(result_of(load, 1, "load_state").reason, "came under load: the card is lost");
  load = quiet_load();
  load.after.snapshot.gpus.pop_back();
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::fail);
}

TEST(UnderLoad, PassesNothingThatCouldNotBeLookedAtAgain) {
  auto load = quiet_load();
  load.after.snapshot.gpus.clear();
  load.after.snapshot.source.state = device::SourceState::driver_hung;
  EXPECT_TRUE(result_of(load, 1, "load_state").hindered);

  load = quiet_load();
  load.after.snapshot.gpus[1].readings.set(FieldId::ecc_uncorrected_volatile,
                                           Reading::none(Reason::failed, {Seconds(30)}));
  EXPECT_TRUE(result_of(load, 1, "load_state").hindered);

  load = quiet_load();
  count(load, FieldId::ecc_uncorrected_volatile, 0);  // loaded anew: what came before is not known
  EXPECT_TRUE(result_of(load, 1, "load_state").hindered);

  load = quiet_load();
  load.unheard = "no log";
  EXPECT_TRUE(result_of(load, 1, "load_xids").hindered);
  for (const auto& one : not_looked_at(load.before.snapshot.gpus[0], "stopped"))
    EXPECT_TRUE(one.hindered);
}

TEST(UnderLoad, FailsByClocksThatWereHeldDownWhileItWorkedAlone) {
  auto load = quiet_load();
  load.samples[1] = {{.at = {Seconds(9)}, .throttle_reasons = 0x40},
                     {.at = {Seconds(12)}, .throttle_reasons = 0x4}};
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::pass);  // its power limit
  load.samples[1].push_back({.at = {Seconds(15)}, .throttle_reasons = 0x40});
  EXPECT_EQ(result_of(load, 1, "load_state").verdict, Verdict::fail);
}

TEST(UnderLoad, FailsTheCardThatTheKernelNamesAndNotForAProgramOfSomebodyElse) {
  auto load = quiet_load();
  load.events = {{.gpu = 1, .text = "Xid 31: fault", .details = {"line"}, .of_program = true}};
  EXPECT_EQ(result_of(load, 1, "load_xids").verdict, Verdict::fail);
  EXPECT_EQ(result_of(load, 0, "load_xids").verdict, Verdict::pass);
  load.shared = true;
  EXPECT_TRUE(result_of(load, 1, "load_xids").hindered);
  load.events = {{.gpu = 1, .text = "Xid 154: none", .is_fault = false}};
  EXPECT_EQ(result_of(load, 1, "load_xids").verdict, Verdict::pass);
}

}  // namespace
}  // namespace stoker::diag
