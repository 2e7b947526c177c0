// Diag stage: the table of active tests.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stoker::diag {

// What runs at once on all cards, and what a card has to itself: pcie takes one card after the other, since cards may share
// a way to the host, and peers and nccl all of them together.
enum class Step : std::uint8_t { memory, bandwidth, compute, tensor, pcie, peers, nccl, count_ };
std::string_view to_string(Step step);
// How long a step takes on a card, for people; a step that takes four times as long and 20 s more does not return.
double estimated_seconds(Step step);
double allowed_seconds(Step step);
// Does it take all cards together, so that one that hangs keeps the others from the end?
bool is_of_all_cards(Step step);

struct TestRow {
  std::string_view name;
  Step step = Step::memory;
  std::string_view unit;
  std::string_view text;
};
std::span<const TestRow> test_rows();
const TestRow* find_test(std::string_view name);  // nullptr: there is none

}  // namespace stoker::diag
