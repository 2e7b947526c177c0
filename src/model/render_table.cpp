// Ground stage: findings for people.
#include <fmt/format.h>

#include "model/render.h"
#include "model/wrap.h"

namespace stoker {
namespace {

constexpr std::size_t label_width = 10;  // "critical" and two blanks

// ANSI SGR: red, yellow, cyan; bold for what can't wait.
std::string_view colour_of(const Finding& finding) {
  if (finding.state == FindingState::clear) return "\x1b[32m";
  switch (finding.severity) {
    case Severity::info: return "\x1b[36m";
    case Severity::warning: return "\x1b[33m";
    case Severity::error: return "\x1b[31m";
    case Severity::critical: return "\x1b[1;31m";
  }
  return "";
}

void append_part(std::string& out, std::string_view label, std::string_view text,
                 const TableStyle& style) {
  if (text.empty()) return;
  append_labelled(out, label, printable(std::string(text), true), style.width, label_width);
}

std::string headline(const Finding& finding) {
  std::string text = finding.rule;
  if (finding.location) {
    text += "  " + finding.location->file;
    if (finding.location->line > 0) text += fmt::format(":{}", finding.location->line);
    if (finding.location->column > 0) text += fmt::format(":{}", finding.location->column);
  } else if (!finding.entity.id.empty()) {
    text += fmt::format("  {} {}", to_string(finding.entity.kind), finding.entity.id);
    if (!finding.field.empty()) text += " " + finding.field;
  }
  if (finding.state != FindingState::firing)
    text += fmt::format("  ({})", to_string(finding.state));
  return text;
}

std::string what_to_do(const Finding& finding) {
  if (!finding.action) return finding.fix;
  if (finding.fix.empty()) return to_string(*finding.action);
  return fmt::format("{}: {}", to_string(*finding.action), finding.fix);
}

void append_block(std::string& out, const Finding& finding, const TableStyle& style) {
  const std::string severity = pad(to_string(finding.severity), label_width);
  if (style.colour) {
    out += fmt::format("{}{}\x1b[0m", colour_of(finding), severity);
  } else {
    out += severity;
  }
  out += printable(headline(finding)) + '\n';
  append_part(out, "what", finding.message, style);
  append_part(out, "why", finding.cause, style);
  append_part(out, "do", what_to_do(finding), style);
  if (finding.since) append_part(out, "since", format_utc(*finding.since), style);
  for (const auto& line : finding.evidence) append_part(out, "seen", line, style);
  append_part(out, "source", finding.source, style);
}

}  // namespace

std::string render_table(std::span<const Finding> findings, const TableStyle& style) {
  std::string out;
  for (const Finding& finding : findings) {
    if (!out.empty()) out += '\n';
    append_block(out, finding, style);
  }
  return out;
}

}  // namespace stoker
