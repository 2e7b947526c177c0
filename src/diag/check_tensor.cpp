#include "diag/check_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "diag/matrices.h"
#include "diag/measure_rates.h"

namespace stoker::diag {
namespace {

constexpr std::uint32_t tensor_repeats = 10;
constexpr std::uint32_t cells_checked = 64;
// A look at the whole product between launches costs a hundredth of them, and nobody waits longer for the end.
constexpr double seconds_between_looks = 0.2;

class TensorCheck {
 public:
  TensorCheck(Card& card, const TensorOptions& options) : card_(card), options_(options) {}

  std::vector<Measurement> run() {
    const std::uint32_t small = card_.facts().simulated ? 48 : 8192;
    const std::uint32_t large = card_.facts().simulated ? 64 : 16384;
    rates(small, true);
    // Three matrices of the larger size take 1.6 GB.
    rates(large, false);
    return std::move(out_);
  }

 private:
  [[nodiscard]] Measurement named(const std::string& test) const {
    return {.test = test, .gpu = card_.facts().index, .unit = "operations_per_second"};
  }
  void add(Measurement one, MonotonicTime began) {
    one.began = began;
    one.ended = system_clock().monotonic();
    out_.push_back(std::move(one));
  }
  void fail_all(const std::vector<std::string>& tests, const Error& error) {
    for (const auto& test : tests) out_.push_back(not_done(test, card_.facts().index, error));
  }

  void rates(std::uint32_t rows, bool whole) {
    // Tests have the names of the sizes that real cards get.
    const std::string size = whole ? "8192" : "16384";
    std::vector<std::string> tests = {"tensor_" + size, "cublas_" + size};
    if (whole) tests.insert(tests.end(), {"tensor_check", "tensor_load", "cublas_load"});
    auto matrices = Matrices::make(card_, rows);
    if (!matrices) return fail_all(tests, matrices.error());
    rate("tensor_" + size, *matrices, [&] { return matrices->multiply(); });
    rate("cublas_" + size, *matrices, [&] { return matrices->multiply_by_library(); });
    if (!whole) return;
    check(*matrices);
    load("tensor_load", *matrices, options_.load_seconds, [&] { return matrices->multiply(); });
    load("cublas_load", *matrices, options_.library_seconds,
         [&] { return matrices->multiply_by_library(); });
  }

  void rate(const std::string& test, const Matrices& matrices,
            const std::function<Result<void>()>& multiply) {
    const auto began = system_clock().monotonic();
    const auto seconds = median_seconds(card_, tensor_repeats, multiply);
    if (!seconds) return out_.push_back(not_done(test, card_.facts().index, seconds.error()));
    Measurement one = named(test);
    one.value = *seconds > 0 ? matrices.operations() / *seconds : 0;
    add(std::move(one), began);
  }

  void check(Matrices& matrices) {
    const auto began = system_clock().monotonic();
    auto wrong = check_once(matrices);
    if (!wrong) return out_.push_back(not_done("tensor_check", card_.facts().index, wrong.error()));
    Measurement one = named("tensor_check");
    one.unit = "errors";
    one.value = *wrong;
    one.reason = fmt::format("{} cells computed again by the host", cells_checked);
    if (*wrong > 0) {
      one.outcome = Outcome::wrong;
      one.reason = fmt::format("{} of {} cells are not what the host computes of the same numbers",
                               *wrong, cells_checked);
    }
    add(std::move(one), began);
  }

  static Result<std::uint32_t> check_once(Matrices& matrices) {
    if (auto ok = matrices.spoil(); !ok) return fail(ok.error());
    if (auto ok = matrices.multiply(); !ok) return fail(ok.error());
    return matrices.wrong_cells(cells_checked);
  }

  // Of several hundred products each has to be the first one, bit by bit.
  void load(const std::string& test, Matrices& matrices, double seconds,
            const std::function<Result<void>()>& multiply) {
    const auto began = system_clock().monotonic();
    double busy = 0;
    double products = 0;
    std::uint32_t first = 0;
    std::uint32_t looks = 0;
    std::uint32_t differ = 0;
    const double wanted = card_.facts().simulated ? seconds * 1e-9 : seconds;
    std::uint32_t batch = 1;  // products from one look to the next
    while (busy < wanted) {
      if (options_.stopped && options_.stopped()) {
        return out_.push_back(
            not_done(test, card_.facts().index, Error(ErrorCode::cancelled, "asked to stop")));
      }
      const auto took = card_.timed([&]() -> Result<void> {
        for (std::uint32_t i = 0; i < batch; ++i) {
          if (auto ok = multiply(); !ok) return ok;
        }
        return {};
      });
      if (!took) return out_.push_back(not_done(test, card_.facts().index, took.error()));
      busy += *took;
      products += batch;
      const auto digest = matrices.product_digest();
      if (!digest) return out_.push_back(not_done(test, card_.facts().index, digest.error()));
      if (looks++ == 0) first = *digest;
      if (*digest != first) ++differ;
      const double one = *took / batch;
      batch = one > 0
                  ? static_cast<std::uint32_t>(std::clamp(seconds_between_looks / one, 1.0, 1000.0))
                  : 1;
    }
    Measurement one = named(test);
    one.value = busy > 0 ? products * matrices.operations() / busy : 0;
    one.reason = fmt::format("{:.0f} products, {} looked at", products, looks);
    if (differ > 0) {
      one.outcome = Outcome::wrong;
      one.reason =
          fmt::format("{} of {} products that were looked at differ from the first", differ, looks);
    }
    add(std::move(one), began);
  }

  Card& card_;
  const TensorOptions options_;
  std::vector<Measurement> out_;
};

}  // namespace

std::vector<Measurement> check_tensor(Card& card, const TensorOptions& options) {
  return TensorCheck(card, options).run();
}

}  // namespace stoker::diag
