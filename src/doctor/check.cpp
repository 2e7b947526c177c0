#include "doctor/check.h"

#include <algorithm>
#include <array>

#include "doctor/checks.h"

namespace stoker::doctor {
namespace {

constexpr auto check_rows = std::to_array<CheckRow>({
#define STOKER_DOCTOR_CHECK(symbol, id, severity, where, gate, title, why, fix, source) \
  {id, Severity::severity, Where::where, Gate::gate, title, why, fix, source},
#include "doctor/checks.def"
#undef STOKER_DOCTOR_CHECK
});

constexpr auto check_functions = std::to_array<void (*)(Exam&)>({
#define STOKER_DOCTOR_CHECK(symbol, id, severity, where, gate, title, why, fix, source) \
  &check_##symbol,
#include "doctor/checks.def"
#undef STOKER_DOCTOR_CHECK
});

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::fine: return "fine";
    case Outcome::found: return "found";
    case Outcome::not_here: return "not_here";
    case Outcome::not_looked: return "not_looked";
  }
  return "not_looked";
}

std::span<const CheckRow> all_checks() { return check_rows; }

const CheckRow* find_check(std::string_view id) {
  const auto found = std::ranges::find(check_rows, id, &CheckRow::id);
  return found == check_rows.end() ? nullptr : &*found;
}

std::vector<CheckResult> examine(const Node& node, const Context& context,
                                 const std::function<bool(const CheckRow&)>& wanted) {
  const Where other = context.in_container ? Where::node : Where::container;
  std::vector<CheckResult> results;
  for (std::size_t n = 0; n < check_rows.size(); ++n) {
    const CheckRow& row = check_rows[n];
    if (row.where == other || !wanted(row)) continue;
    Exam exam(row, node, context);
    check_functions[n](exam);
    results.push_back(std::move(exam).result());
  }
  return results;
}

}  // namespace stoker::doctor
