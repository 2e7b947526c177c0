#include "doctor/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "doctor/claims.h"
#include "model/wrap.h"

namespace stoker::doctor {
namespace {

std::size_t count(std::span<const CheckResult> results, Outcome outcome) {
  return static_cast<std::size_t>(std::ranges::count(results, outcome, &CheckResult::outcome));
}

void append_list(std::string& out, std::string_view head, std::size_t width,
                 const std::vector<std::pair<std::string_view, std::string>>& lines) {
  if (lines.empty()) return;
  if (!out.empty()) out += '\n';
  out += fmt::format("{}\n", head);
  constexpr std::size_t indent = 22;  // the longest id and blanks
  for (const auto& [id, text] : lines) append_labelled(out, id, printable(text), width, indent);
}

std::string many(std::size_t number, std::string_view one) {
  return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::go: return "go";
    case Verdict::no_go: return "no_go";
    case Verdict::unknown: return "unknown";
  }
  return "unknown";
}

Verdict verdict_of(std::span<const CheckResult> results) {
  Verdict verdict = Verdict::go;
  // Of a node without a GPU nobody knows whether it should have one.
  const auto gpus = std::ranges::find_if(
      results, [](const CheckResult& result) { return result.row->id == "gpu-count"; });
  if (gpus == results.end() || gpus->outcome == Outcome::not_here) verdict = Verdict::unknown;
  for (const auto& result : results) {
    for (const auto& finding : result.findings) {
      if (finding.severity >= Severity::error) return Verdict::no_go;
    }
    const bool could_block = result.row->severity >= Severity::error;
    if (could_block && !result.not_looked.empty()) verdict = Verdict::unknown;
  }
  return verdict;
}

bool found_anything(std::span<const CheckResult> results) {
  return std::ranges::any_of(findings_of(results), [](const Finding& finding) {
    return finding.severity >= Severity::warning;
  });
}

bool saw_nothing(std::span<const CheckResult> results) {
  return count(results, Outcome::fine) == 0 && count(results, Outcome::found) == 0 &&
         count(results, Outcome::not_looked) > 0;
}

std::vector<Finding> findings_of(std::span<const CheckResult> results) {
  std::vector<Finding> findings;
  for (const auto& result : results) {
    findings.insert(findings.end(), result.findings.begin(), result.findings.end());
  }
  return findings;
}

std::string report_table(std::span<const CheckResult> results, const ReportStyle& style) {
  std::string out = render_table(findings_of(results), style.table);
  std::vector<std::pair<std::string_view, std::string>> unread;
  std::vector<std::pair<std::string_view, std::string>> fine;
  std::vector<std::pair<std::string_view, std::string>> not_here;
  for (const auto& result : results) {
    for (const auto& line : result.not_looked) unread.emplace_back(result.row->id, line);
    if (result.outcome == Outcome::fine) fine.emplace_back(result.row->id, result.seen);
    if (result.outcome == Outcome::not_here) not_here.emplace_back(result.row->id, result.seen);
  }
  append_list(out, "not looked at", style.table.width, unread);
  if (style.all) {
    append_list(out, "fine", style.table.width, fine);
    append_list(out, "does not apply", style.table.width, not_here);
  }
  if (!out.empty()) out += '\n';
  out += fmt::format("{}; {} fine, {} not applicable, {} not looked at\n",
                     many(findings_of(results).size(), "finding"),
                     many(count(results, Outcome::fine), "check"),
                     count(results, Outcome::not_here), count(results, Outcome::not_looked));
  return out;
}

std::string report_json(std::span<const CheckResult> results, const Verdict* verdict) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/doctor_check");
  json.member_or_null("verdict", verdict == nullptr ? "" : to_string(*verdict));
  json.key("doctor_checks").begin_array();
  for (const auto& result : results) {
    json.begin_object().member("id", result.row->id).member("title", result.row->title);
    json.member("outcome", to_string(result.outcome));
    json.member_or_null("seen", result.seen);
    json.key("not_looked").begin_array();
    for (const auto& line : result.not_looked) json.value(line);
    json.end_array().key("findings").begin_array();
    for (const auto& finding : result.findings) write_finding(json, finding);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.text();
}

std::string list_checks() {
  std::string out;
  for (const auto& row : all_checks()) {
    out += fmt::format("{:<22}{:<9}{}\n", row.id, to_string(row.severity), row.title);
  }
  out += "\nwhat is often said, and what is so (--explain):\n";
  for (const auto& claim : all_claims()) out += fmt::format("{:<22}\"{}\"\n", claim.id, claim.said);
  return out;
}

std::string explain_check(const CheckRow& row, std::size_t width) {
  std::string out = fmt::format("{} ({})\n", row.id, to_string(row.severity));
  append_labelled(out, "what", row.title, width);
  append_labelled(out, "why", row.why, width);
  append_labelled(out, "do", row.fix, width);
  append_labelled(out, "source", row.source, width);
  return out;
}

}  // namespace stoker::doctor
