// Analyzer stage: what the doctor found, for people and for programs; and the answer to "may this node restart?".
#pragma once

#include <span>
#include <string>

#include "doctor/check.h"
#include "model/render.h"

namespace stoker::doctor {

enum class Verdict : std::uint8_t { go, no_go, unknown };
// "go", "no_go", "unknown".
const char* to_string(Verdict verdict);

// Of the checks that belong to a gate: no_go where one found an error, else unknown where one
// that could have done so could not look, or where there is no GPU and nothing says that there should be none.
Verdict verdict_of(std::span<const CheckResult> results);

// Something that is worth a warning was found.
bool found_anything(std::span<const CheckResult> results);
// Some could not look, and no other saw anything of its own.
bool saw_nothing(std::span<const CheckResult> results);
// Of all results, in their order.
std::vector<Finding> findings_of(std::span<const CheckResult> results);

struct ReportStyle {
  TableStyle table;
  bool all = false;  // also what is fine, and what has no object here
};

// Findings as everywhere, then what could not be looked at, then a line that sums up.
std::string report_table(std::span<const CheckResult> results, const ReportStyle& style);
// {"schema":"stoker.dev/v1/doctor_check","verdict":..,"doctor_checks":[{id, title, outcome, seen, not_looked[],
// findings[]}]}; `verdict` is null without a gate.
std::string report_json(std::span<const CheckResult> results, const Verdict* verdict);
// Every row with its severity, as a list.
std::string list_checks();
// Title, reason, remedy and source of one row, wrapped at `width` columns.
std::string explain_check(const CheckRow& row, std::size_t width);

}  // namespace stoker::doctor
