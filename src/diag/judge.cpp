#include "diag/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "catalog/clock_holds.h"
#include "diag/median.h"
#include "diag/test_row.h"

namespace stoker::diag {
namespace {

// Cards of one kind in one node differ by a few per cent (silicon, cooling, slot). Our own choice; two others are too few
// to say who is the odd one.
constexpr double least_of_peers = 0.85;
constexpr std::size_t fewest_peers = 3;
// The same card differs by less from run to run. Our own choice.
constexpr double least_of_earlier = 0.90;
constexpr std::size_t fewest_earlier = 3;

// Readings come five times a second, and a load may be shorter than that.
constexpr Nanoseconds sample_slack = Milliseconds(300);

bool lower_is_better(std::string_view unit) { return unit == "seconds"; }
bool is_rate(std::string_view unit) {
  return unit == "bytes_per_second" || unit == "operations_per_second";
}

const CardTraits* traits_of(const JudgeInput& input, std::uint32_t gpu) {
  const auto found = std::ranges::find(input.cards, gpu, &CardTraits::gpu);
  return found == input.cards.end() ? nullptr : &*found;
}

std::vector<LoadSample> samples_within(const JudgeInput& input, const Measurement& one) {
  std::vector<LoadSample> out;
  const auto found = input.samples.find(one.gpu);
  if (found == input.samples.end()) return out;
  for (const auto& sample : found->second) {
    if (sample.at + sample_slack >= one.began && sample.at <= one.ended + sample_slack) {
      out.push_back(sample);
    }
  }
  return out;
}

// NVML's power is the mean of the last second (nvml.h, nvmlDeviceGetPowerUsage, Ampere and later).
std::optional<double> mean_power(const std::vector<LoadSample>& samples, MonotonicTime began) {
  double sum = 0;
  int count = 0;
  for (const auto& sample : samples) {
    if (!sample.power_watts || sample.at - began < Seconds(1)) continue;
    sum += *sample.power_watts;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

// Less than it should be: a fault, or nobody knows where others use the card, or its way to the host.
void fall_short(const JudgeInput& input, std::string reason, TestResult& out) {
  const bool shares_way = input.others_work && out.name.starts_with("pcie_");
  out.hindered = input.shared || shares_way;
  out.verdict = out.hindered ? Verdict::not_tested : Verdict::fail;
  if (input.shared) {
    reason += ", while others may use the card";
  } else if (shares_way) {
    reason += ", while other cards of the node are in use, which may share its way to the host";
  }
  out.reason = std::move(reason);
}

void judge_by_limit(const Measurement& one, const CardTraits& card, const JudgeInput& input,
                    TestResult& out) {
  const auto limit = limit_of(one.test, card);
  if (!limit) return;
  out.limit = limit->value;
  out.limit_source = limit->text + ": " + limit->source;
  const bool good =
      lower_is_better(one.unit) ? one.value <= limit->value : one.value >= limit->value;
  if (good) {
    if (limit->usual && one.value < *limit->usual)
      out.reason = "WARNING: less than " + limit->usual_text;
    return;
  }
  fall_short(input,
             fmt::format("{} than {}", lower_is_better(one.unit) ? "longer" : "less", limit->text),
             out);
}

void judge_by_peers(const Measurement& one, const CardTraits& card,
                    const std::vector<Measurement>& all, const JudgeInput& input, TestResult& out) {
  if (!is_rate(one.unit) || out.verdict != Verdict::pass) return;
  std::vector<double> others;
  for (const auto& other : all) {
    const CardTraits* traits = traits_of(input, other.gpu);
    if (other.test == one.test && other.gpu != one.gpu && other.outcome == Outcome::measured &&
        traits != nullptr && traits->name == card.name) {
      others.push_back(other.value);
    }
  }
  if (others.size() < fewest_peers) return;
  const double usual = median_of(others);
  if (one.value >= least_of_peers * usual) return;
  out.limit = least_of_peers * usual;
  out.limit_source =
      fmt::format("{:.0f} % of the median of {} other cards of this kind in this node",
                  least_of_peers * 100, others.size());
  fall_short(input,
             fmt::format("{:.0f} % below the median of the other {} cards of this kind",
                         (1 - one.value / usual) * 100, others.size()),
             out);
}

// The test of ours that does the same as this one of a vendor's library; empty: it is none.
std::string own_test_of(std::string_view test) {
  if (test == "nccl_all_reduce") return "all_reduce";
  constexpr std::string_view cublas = "cublas_";
  return test.starts_with(cublas) ? fmt::format("tensor_{}", test.substr(cublas.size())) : "";
}

// How near ours comes to what the vendor's library makes of the same arrays.
void compare_with_library(const Measurement& one, const std::vector<Measurement>& all,
                          TestResult& out) {
  const std::string own = own_test_of(one.test);
  if (own.empty() || one.outcome != Outcome::measured || one.value <= 0) return;
  for (const auto& other : all) {
    if (other.test != own || other.gpu != one.gpu || other.outcome != Outcome::measured) continue;
    out.reason += fmt::format("{}{} reaches {:.0f} % of it", out.reason.empty() ? "" : "; ", own,
                              100 * other.value / one.value);
  }
}

void judge_by_earlier(const Measurement& one, const CardTraits& card, const JudgeInput& input,
                      TestResult& out) {
  if (!is_rate(one.unit) || out.verdict != Verdict::pass || card.mig) return;
  const auto found = input.earlier.find({key_of(card), one.test});
  if (found == input.earlier.end() || found->second.size() < fewest_earlier) return;
  const double usual = median_of(found->second);
  const double change = usual > 0 ? one.value / usual - 1 : 0;
  out.details.push_back(fmt::format("{:+.1f} % against the median of its last {} results",
                                    change * 100, found->second.size()));
  // Another version of the library may have come, which is no fault of the card.
  if (one.value >= least_of_earlier * usual || !own_test_of(one.test).empty()) return;
  out.limit = least_of_earlier * usual;
  out.limit_source = fmt::format("{:.0f} % of the median of this card's last {} results",
                                 least_of_earlier * 100, found->second.size());
  fall_short(input,
             fmt::format("{:.0f} % below the median of its own last {} results", -change * 100,
                         found->second.size()),
             out);
}

TestResult begin_result(const Measurement& one, const CardTraits* card) {
  TestResult out{.name = one.test,
                 .gpu = one.gpu,
                 .unit = one.unit,
                 .reason = one.reason,
                 .peer = one.peer,
                 .details = one.details};
  if (card != nullptr) {
    out.uuid = card->uuid;
    out.serial = card->serial;
  }
  return out;
}

// Several cards were asked to reach one another, whose product is made for it, and can't.
bool lacks_its_links(const Measurement& one, const CardTraits& card,
                     const std::vector<Measurement>& all) {
  const bool others = std::ranges::any_of(all, [&](const Measurement& other) {
    return other.test == one.test && other.gpu != one.gpu;
  });
  return one.outcome == Outcome::absent && others && find_test(one.test) != nullptr &&
         find_test(one.test)->step == Step::peers && !card.mig && has_nvlink(card.name);
}

TestResult result_of(const Measurement& one, const std::vector<Measurement>& all,
                     const JudgeInput& input) {
  const CardTraits* card = traits_of(input, one.gpu);
  TestResult out = begin_result(one, card);
  if (one.outcome == Outcome::absent || one.outcome == Outcome::hindered) {
    out.hindered = one.outcome == Outcome::hindered;
    if (card != nullptr && lacks_its_links(one, *card, all)) {
      out.verdict = Verdict::fail;
      out.reason += ", and this product has NVLink to reach them";
    }
    return out;
  }
  if (one.outcome == Outcome::measured || one.value != 0) out.value = one.value;
  const auto samples = samples_within(input, one);
  out.power_watts = mean_power(samples, one.began);
  if (one.outcome == Outcome::no_room && (input.shared || (card != nullptr && card->mig))) {
    out.hindered = true;
    return out;
  }
  if (one.outcome == Outcome::wrong || one.outcome == Outcome::no_room) {
    out.verdict = Verdict::fail;
    return out;
  }
  out.verdict = Verdict::pass;
  if (one.unit == "errors" || one.unit == "multiprocessors") out.limit = 0;
  if (card == nullptr) return out;
  judge_by_limit(one, *card, input, out);
  judge_by_peers(one, *card, all, input, out);
  judge_by_earlier(one, *card, input, out);
  return out;
}

TestResult throttle_of(const Measurement& load, const JudgeInput& input) {
  TestResult out = begin_result(load, traits_of(input, load.gpu));
  out.name = "tensor_throttle";
  out.details.clear();
  out.unit = "megahertz";
  if (load.outcome == Outcome::absent || load.outcome == Outcome::hindered) {
    out.hindered = load.outcome == Outcome::hindered;
    return out;
  }
  const auto samples = samples_within(input, load);
  std::uint64_t reasons = 0;
  bool told = false;
  std::vector<double> clocks;
  for (const auto& sample : samples) {
    told = told || sample.throttle_reasons.has_value();
    reasons |= sample.throttle_reasons.value_or(0);
    if (sample.sm_clock_mhz) clocks.push_back(*sample.sm_clock_mhz);
  }
  if (!told) {
    out.hindered = true;
    out.reason = "nothing was read of its clocks while it worked";
    return out;
  }
  out.verdict = Verdict::pass;
  if (!clocks.empty()) out.value = median_of(clocks);
  out.power_watts = mean_power(samples, load.began);
  out.reason = (reasons & held_by_power_cap) != 0 ? "held at its power limit, as it should be"
                                                  : "nothing held its clocks down";
  for (const ClockHold& hold : clock_holds) {
    if (!hold.is_fault || (reasons & hold.bit) == 0) continue;
    out.verdict = Verdict::fail;
    out.reason = fmt::format("clocks were held down: {}", hold.name);
  }
  return out;
}

}  // namespace

std::string key_of(const CardTraits& card) { return card.uuid.empty() ? card.serial : card.uuid; }

std::vector<TestResult> judge(const std::vector<Measurement>& found, const JudgeInput& input) {
  std::vector<TestResult> out;
  for (const auto& one : found) {
    out.push_back(result_of(one, found, input));
    compare_with_library(one, found, out.back());
    if (one.test == "tensor_load") out.push_back(throttle_of(one, input));
  }
  return out;
}

}  // namespace stoker::diag
