// Diag stage: whose fault slow copies between cards are. Pure.
#pragma once

#include <vector>

namespace stoker::diag {

// [to][from], bytes a second; nothing is said of a card and itself.
using PairRates = std::vector<std::vector<double>>;

struct PairBlame {
  std::vector<bool> cards;                 // slow pairs count against it
  std::vector<std::vector<bool>> excused;  // [to][from]: slow, by the other one's fault
};

// A pair is slow where it is less than 85 % of the fastest (our own choice, as among cards: judge.cpp). Cards with more slow
// pairs than all the others, two at least, are at fault, unless that is half of the cards: then it is how they are wired.
// A slow pair of two others counts against both.
PairBlame blame_slow_pairs(const PairRates& rates);

}  // namespace stoker::diag
