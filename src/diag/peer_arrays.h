// Diag stage: an array and a place for sums on every card of the node, as what runs over several cards at once needs them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "diag/card.h"
#include "diag/measurement.h"

namespace stoker::diag {

// A word of the sums that is not what it should be.
struct WrongSum {
  std::uint64_t at = 0;
  std::uint32_t found = 0;
};

// Of what several cards do together: the card whose call did not come off, and why.
struct CardError {
  std::size_t card = 0;
  Error error;
};
template <typename T>
using OfCards = tl::expected<T, CardError>;
inline tl::unexpected<CardError> fail_of(std::size_t card, Error error) {
  return tl::unexpected<CardError>({card, std::move(error)});
}
// `test` on every card: that card's own error, and the others hindered by it.
std::vector<Measurement> not_done_together(const std::string& test, const Cards& cards,
                                           const CardError& error);

class PeerArrays {
 public:
  // On each of `cards`, two at least: an array, in which 32-bit word n is Pattern::address's of seed `card`, and room for the
  // sums of all. They end before `cards` do.
  static OfCards<PeerArrays> take(const Cards& cards);

  [[nodiscard]] const CardMemory& array(std::size_t card) const { return arrays_[card]; }
  [[nodiscard]] const CardMemory& sums(std::size_t card) const { return sums_[card]; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // So that no sum of before is taken for one of now.
  [[nodiscard]] OfCards<void> clear_sums() const;
  // One wrong word of each slice of a card's sums, by the card whose slice it is; only some places are looked at.
  [[nodiscard]] Result<std::map<std::size_t, WrongSum>> wrong_sums_of(std::size_t card) const;
  // Is this word of the card's own array, which all add up, not what was written there?
  [[nodiscard]] Result<bool> has_wrong_array(std::size_t card, std::uint64_t at) const;
  // Bytes that each card sends, and receives, in an all-reduce, of which bus bandwidth is told as nccl-tests does
  // (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md: 2 (n - 1) / n).
  [[nodiscard]] double bus_bytes() const;

 private:
  explicit PeerArrays(const Cards& cards) : cards_(&cards) {}
  OfCards<void> fill();

  const Cards* cards_;
  std::vector<CardMemory> arrays_;
  std::vector<CardMemory> sums_;
  std::uint64_t bytes_ = 0;
};

// Seconds that all cards together took: by the host's clock, or where times follow from rates the longest of them.
class Together {
 public:
  explicit Together(const Cards& cards) : cards_(cards) {}

  template <typename Work>
  OfCards<double> timed(Work work) {
    if (cards_.front()->facts().simulated) return modelled(work);
    const auto began = system_clock().monotonic();
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      if (auto ok = work(i); !ok) return fail_of(i, ok.error());
    }
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      if (auto ok = cards_[i]->wait(); !ok) return fail_of(i, ok.error());
    }
    return static_cast<double>((system_clock().monotonic() - began).count()) * 1e-9;
  }

 private:
  template <typename Work>
  OfCards<double> modelled(Work work) {
    double longest = 0;
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      const auto took = cards_[i]->timed([&] { return work(i); });
      if (!took) return fail_of(i, took.error());
      longest = std::max(longest, *took);
    }
    return longest;
  }
  const Cards& cards_;
};

}  // namespace stoker::diag
