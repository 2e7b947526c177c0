#include "diag/test_row.h"

#include <algorithm>
#include <array>

namespace stoker::diag {
namespace {

constexpr auto rows = std::to_array<TestRow>({
#define STOKER_DIAG_TEST(name, step, unit, text) {#name, Step::step, unit, text},
#include "diag/tests.def"
#undef STOKER_DIAG_TEST
});

struct StepRow {
  std::string_view name;
  double seconds;
};
// Measured on one H200 (docs/measurements.md), rounded up; peers are estimated.
constexpr std::array<StepRow, static_cast<std::size_t>(Step::count_)> steps = {{{"memory", 2},
                                                                                {"bandwidth", 2},
                                                                                {"compute", 1},
                                                                                {"tensor", 15},
                                                                                {"pcie", 1},
                                                                                {"peers", 4},
                                                                                {"nccl", 4}}};

}  // namespace

std::string_view to_string(Step step) { return steps.at(static_cast<std::size_t>(step)).name; }
double estimated_seconds(Step step) { return steps.at(static_cast<std::size_t>(step)).seconds; }
double allowed_seconds(Step step) { return 4 * estimated_seconds(step) + 20; }

bool is_of_all_cards(Step step) { return step == Step::peers || step == Step::nccl; }

std::span<const TestRow> test_rows() { return rows; }

const TestRow* find_test(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &TestRow::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace stoker::diag
