// Diag stage: measurements -> results. Pure: limits, peers, earlier results and readings of the same time are given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "diag/limits.h"
#include "diag/measurement.h"
#include "diag/result.h"

namespace stoker::diag {

// What was read of a card while it worked.
struct LoadSample {
  MonotonicTime at;
  std::optional<double> power_watts;
  std::optional<double> sm_clock_mhz;
  std::optional<std::uint64_t> throttle_reasons;  // NVML's bits
  std::optional<double> temperature_celsius;
};
using LoadSamples =
    std::map<std::uint32_t, std::vector<LoadSample>>;  // by GPU, in the order of time

// Earlier values of one test of one card that passed, newest first.
using Earlier =
    std::map<std::pair<std::string, std::string>, std::vector<double>>;  // by key_of() and test
// What a card is known by: its UUID; its serial number, which is its board's and so maybe another card's too, where it tells
// none.
std::string key_of(const CardTraits& card);

struct JudgeInput {
  std::vector<CardTraits> cards;
  LoadSamples samples;
  Earlier earlier;
  bool others_work = false;  // on other cards of the node, whose way to the host theirs may share
  bool shared =
      false;  // somebody else may use the cards meanwhile: too slow, or no memory left, is no fault then
};

// One result for each measurement, in their order; and for each tensor_load one more, tensor_throttle: whether clocks were
// held down by more than the power limit.
std::vector<TestResult> judge(const std::vector<Measurement>& found, const JudgeInput& input);

}  // namespace stoker::diag
