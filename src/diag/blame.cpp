#include "diag/blame.h"

#include <algorithm>
#include <cstddef>

namespace stoker::diag {
namespace {

constexpr double least_of_fastest_pair = 0.85;

class PairTable {
 public:
  explicit PairTable(const PairRates& rates)
      : size_(rates.size()), slow_(size_, std::vector<bool>(size_)) {
    const auto rate = [&](std::size_t a, std::size_t b) {
      return std::min(rates[a][b], rates[b][a]);
    };
    double fastest = 0;
    for (std::size_t a = 0; a < size_; ++a) {
      for (std::size_t b = 0; b < a; ++b) fastest = std::max(fastest, rate(a, b));
    }
    for (std::size_t a = 0; a < size_; ++a) {
      for (std::size_t b = 0; b < size_; ++b)
        slow_[a][b] = a != b && rate(a, b) < least_of_fastest_pair * fastest;
    }
  }

  // The cards with most slow pairs, if that tells them from the others.
  [[nodiscard]] std::vector<std::size_t> worst() const {
    std::size_t most = 0;
    std::vector<std::size_t> out;
    out.reserve(size_);
    for (std::size_t card = 0; card < size_; ++card) {
      const std::size_t count = slow_pairs(card);
      if (count > most) {
        most = count;
        out.clear();
      }
      if (count == most) out.push_back(card);
    }
    if (most < 2 || 2 * out.size() >= size_) out.clear();
    return out;
  }

  // Its slow pairs with cards that are not in `worst` are put down to it.
  void settle(const std::vector<std::size_t>& worst, PairBlame& blame) {
    for (const std::size_t card : worst) {
      blame.cards[card] = true;
      for (std::size_t other = 0; other < size_; ++other) {
        const bool too = std::ranges::find(worst, other) != worst.end();
        if (slow_[other][card] && !too) blame.excused[other][card] = true;
        slow_[other][card] = false;
        slow_[card][other] = false;
      }
    }
  }
  [[nodiscard]] std::size_t slow_pairs(std::size_t card) const {
    return static_cast<std::size_t>(std::ranges::count(slow_[card], true));
  }

 private:
  const std::size_t size_;
  std::vector<std::vector<bool>> slow_;  // both ways the same
};

}  // namespace

PairBlame blame_slow_pairs(const PairRates& rates) {
  PairTable table(rates);
  PairBlame out{std::vector<bool>(rates.size()),
                std::vector<std::vector<bool>>(rates.size(), std::vector<bool>(rates.size()))};
  for (auto worst = table.worst(); !worst.empty(); worst = table.worst()) table.settle(worst, out);
  for (std::size_t card = 0; card < rates.size(); ++card) {
    if (table.slow_pairs(card) > 0) out.cards[card] = true;
  }
  return out;
}

}  // namespace stoker::diag
