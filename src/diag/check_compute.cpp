#include "diag/check_compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/closest.h"

namespace stoker::diag {
namespace {

constexpr std::array<KindRow, static_cast<std::size_t>(Kind::count_)> kind_rows = {{
#define STOKER_COMPUTE_KIND(name, text, kernel) {#name, text, Kernel::kernel},
#include "diag/compute_kinds.def"
#undef STOKER_COMPUTE_KIND
}};

constexpr std::uint32_t compute_threads =
    128;  // four warps: one for each quarter of a multiprocessor
constexpr std::uint32_t compute_seed = 0x2545f491;
// A multiprocessor that is left out by this many launches of as many blocks as there are is left out for a reason.
constexpr std::uint32_t most_launches = 200;

// By multiprocessor: how many blocks computed there, and how many of them wrongly.
struct Tally {
  std::uint32_t blocks = 0;
  std::uint32_t wrong = 0;
};
using Tallies = std::map<std::uint32_t, Tally>;

class ComputeCheck {
 public:
  static Result<ComputeCheck> on(Card& card, const ComputeOptions& options) {
    const std::uint64_t bytes = card.facts().multiprocessors * sizeof(BlockDigest);
    auto blocks = CardMemory::take(card, bytes);
    if (!blocks) return fail(blocks.error());
    auto host = HostMemory::take(card, bytes);
    if (!host) return fail(host.error());
    return ComputeCheck(card, options, std::move(*blocks), std::move(*host));
  }

  Measurement run(Kind kind) {
    const KindRow& row = row_of(kind);
    const CardFacts& facts = card_.facts();
    const std::string test = fmt::format("compute_{}", row.name);
    if (!runs_on(row_of(row.kernel).module, facts.compute_capability)) {
      return {.test = test,
              .gpu = facts.index,
              .outcome = Outcome::absent,
              .reason = fmt::format(
                  "{} is there from compute capability {:.1f} on, this card has {:.1f}", row.text,
                  row_of(row_of(row.kernel).module).since / 10.0, facts.compute_capability / 10.0)};
    }
    Tallies tallies;
    const std::uint32_t expected =
        reference_digest(kind, compute_threads, options_.rounds, compute_seed);
    for (std::uint32_t i = 0; i < most_launches; ++i) {
      if (i >= options_.repeats && tallies.size() >= facts.multiprocessors) break;
      if (auto done = launch(kind, expected, tallies); !done)
        return not_done(test, facts.index, done.error());
    }
    return judged(test, tallies);
  }

 private:
  ComputeCheck(Card& card, const ComputeOptions& options, CardMemory blocks, HostMemory host)
      : card_(card), options_(options), blocks_(std::move(blocks)), host_(std::move(host)) {}

  Result<void> launch(Kind kind, std::uint32_t expected, Tallies& tallies) {
    const CardFacts& facts = card_.facts();
    const ComputeArgs args{blocks_.as<BlockDigest>(), static_cast<std::uint32_t>(kind),
                           options_.rounds, compute_seed, options_.wrong_multiprocessor};
    // A block with more than half of the shared memory is alone on its multiprocessor.
    const Launch how{.kernel = row_of(kind).kernel,
                     .blocks = facts.multiprocessors,
                     .threads = compute_threads,
                     .shared_bytes = facts.shared_bytes,
                     .work = {.unit = Work::Unit::general}};
    if (auto done = card_.zero(blocks_.address(), blocks_.bytes()); !done) return done;
    if (auto done = card_.launch(how, args); !done) return done;
    if (auto done =
            card_.from_card(host_.as<void>(), blocks_.address(), blocks_.bytes(), Queue::first);
        !done) {
      return done;
    }
    if (auto done = card_.wait(); !done) return done;
    for (std::uint32_t i = 0; i < facts.multiprocessors; ++i) {
      const BlockDigest& block = host_.as<BlockDigest>()[i];
      Tally& tally = tallies[block.sm];
      ++tally.blocks;
      if (block.digest != expected || block.done != compute_threads) ++tally.wrong;
    }
    return {};
  }

  [[nodiscard]] Measurement judged(const std::string& test, const Tallies& tallies) const {
    const CardFacts& facts = card_.facts();
    Measurement out{.test = test, .gpu = facts.index, .unit = "multiprocessors"};
    std::vector<std::string> wrong;
    for (const auto& [sm, tally] : tallies) {
      if (tally.wrong == 0) continue;
      wrong.push_back(std::to_string(sm));
      out.details.push_back(
          fmt::format("SM {}: {} of {} blocks wrong", sm, tally.wrong, tally.blocks));
    }
    out.value = static_cast<double>(wrong.size());
    const int injected = options_.wrong_multiprocessor;
    if (injected >= 0 && std::ranges::find(wrong, std::to_string(injected)) == wrong.end()) {
      out.outcome = Outcome::hindered;
      out.reason = fmt::format(
          "SM {} was to compute wrongly, and was not found: no block ran on an SM of "
          "that number; those that were seen are {} to {}",
          injected, tallies.begin()->first, tallies.rbegin()->first);
    } else if (!wrong.empty()) {
      out.outcome = Outcome::wrong;
      out.reason = fmt::format("SM {} computed wrongly; {} of {} SMs were tested", listed(wrong),
                               tallies.size(), facts.multiprocessors);
    } else if (tallies.size() < facts.multiprocessors) {
      out.outcome = Outcome::hindered;
      out.reason = fmt::format("the driver ran it on {} of {} SMs only", tallies.size(),
                               facts.multiprocessors);
    } else {
      out.reason = fmt::format("the same on {} SMs", facts.multiprocessors);
    }
    return out;
  }

  Card& card_;
  const ComputeOptions options_;
  CardMemory blocks_;
  HostMemory host_;
};

}  // namespace

const KindRow& row_of(Kind kind) { return kind_rows.at(static_cast<std::size_t>(kind)); }

std::uint32_t reference_digest(Kind kind, std::uint32_t threads, std::uint32_t rounds,
                               std::uint32_t seed) {
  BlockDigest digest{};
  const ComputeArgs args{&digest, static_cast<std::uint32_t>(kind), rounds, seed, -1};
  Thread thread{.lanes = threads};
  for (; thread.lane < threads; ++thread.lane) row_of(row_of(kind).kernel).body(thread, &args);
  return digest.digest;
}

std::vector<Measurement> check_compute(Card& card, const ComputeOptions& options) {
  std::vector<Measurement> out;
  out.reserve(static_cast<std::size_t>(Kind::count_));
  auto check = ComputeCheck::on(card, options);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Kind::count_); ++i) {
    const auto kind = static_cast<Kind>(i);
    out.push_back(check ? check->run(kind)
                        : not_done(fmt::format("compute_{}", row_of(kind).name), card.facts().index,
                                   check.error()));
  }
  return out;
}

}  // namespace stoker::diag
