#include "nccl/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/wrap.h"
#include "nccl/states.h"

namespace stoker::nccl {
namespace {

void write_list(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const auto& text : texts) json.value(text);
  json.end_array();
}

void write_verdict(JsonWriter& json, const Verdict& verdict) {
  json.begin_object().member("class", to_string(verdict.verdict)).key("ranks").begin_array();
  for (const auto rank : verdict.ranks) json.value(rank);
  json.end_array();
  write_list(json, "hosts", verdict.hosts);
  json.member("confidence", to_string(verdict.confidence))
      .member("summary", verdict.summary)
      .member("next_step", verdict.next_step);
  json.key("findings").begin_array();
  for (const auto& finding : verdict.findings) write_finding(json, finding);
  json.end_array();
  if (verdict.size > 0)
    json.member("size", verdict.size);
  else
    json.key("size").null().member("size_reason", "not_said");
  json.member("told_by", verdict.told_by);
  write_list(json, "files", verdict.files);
  write_list(json, "matrix", verdict.matrix);
  write_list(json, "limits", verdict.limits);
  json.end_object();
}

void add_block(std::string& out, std::string_view title, std::string_view text, std::size_t width) {
  constexpr std::size_t indent = 10;
  std::string head(title);
  for (const auto& line : wrap(text, width > 2 * indent ? width - indent : indent)) {
    out += fmt::format("{:<{}}{}\n", head, indent, line);
    head.clear();
  }
}

// Runs of blanks as one: a terminal's line breaks stand elsewhere than a log's columns.
std::string on_one_line(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || !out.ends_with(' ')) out += c;
  }
  return out.size() > most ? out.substr(0, most) + "..." : out;
}

// "a, b, c and 5 more"
std::string joined(const std::vector<std::string>& words) {
  constexpr std::size_t most = 8;
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), most); ++i)
    out += (i == 0 ? "" : ", ") + words[i];
  if (words.size() > most) out += fmt::format(" and {} more", words.size() - most);
  return out;
}

void add_verdict(std::string& out, const Verdict& verdict, std::size_t width) {
  out += fmt::format("{}", to_string(verdict.verdict));
  if (verdict.confidence != Confidence::unknown)
    out += fmt::format(" ({})", to_string(verdict.confidence));
  if (!verdict.ranks.empty()) out += fmt::format("  {}", rank_list(verdict.ranks));
  if (!verdict.hosts.empty()) out += fmt::format("  on {}", joined(verdict.hosts));
  out += '\n';
  add_block(out, "  why", verdict.summary, width);
  if (!verdict.next_step.empty()) add_block(out, "  next", verdict.next_step, width);
  if (verdict.size > 0)
    add_block(out, "  job",
              fmt::format("{} ranks; {} file{}", verdict.size, verdict.files.size(),
                          verdict.files.size() == 1 ? "" : "s"),
              width);
  std::string_view title = "  ranks";
  for (const auto& row : verdict.matrix) {
    add_block(out, title, row, width);
    title = "";
  }
  title = "  seen";
  std::size_t shown_findings = 0;
  constexpr std::size_t most = 8;
  for (const auto& finding : verdict.findings) {
    if (++shown_findings > most) break;
    add_block(out, title,
              shown_findings == 1 && finding.message == verdict.summary
                  ? std::string("(the cause above)")
                  : finding.message,
              width);
    for (const auto& evidence : finding.evidence)
      add_block(out, "", on_one_line(evidence, 2 * width), width);
    title = "";
  }
  if (verdict.findings.size() > most)
    add_block(out, "", fmt::format("and {} more: -o json has all", verdict.findings.size() - most),
              width);
  title = "  limits";
  for (const auto& limit : verdict.limits) {
    add_block(out, title, limit, width);
    title = "";
  }
}

}  // namespace

std::string verdicts_json(std::span<const Verdict> verdicts) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/verdict").key("verdicts").begin_array();
  for (const auto& verdict : verdicts) write_verdict(json, verdict);
  json.end_array().end_object();
  return json.text();
}

std::string verdicts_text(std::span<const Verdict> verdicts, const TableStyle& style) {
  std::string out;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (i > 0) out += '\n';
    if (verdicts.size() > 1)
      out += fmt::format("Job {} of {}, told {}: {}\n", i + 1, verdicts.size(), verdicts[i].told_by,
                         joined(verdicts[i].files));
    add_verdict(out, verdicts[i], style.width);
  }
  return out;
}

}  // namespace stoker::nccl
