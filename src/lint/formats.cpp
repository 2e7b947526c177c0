#include "lint/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/xml_text.h"
#include "model/render.h"

namespace stoker::lint {
namespace {

// Workflow commands: '%', line breaks, and in a property ':' and ',' too, are written by their number.
std::string command_text(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool number = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += number ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

std::string_view command_of(Severity severity) {
  switch (severity) {
    case Severity::info: return "notice";
    case Severity::warning: return "warning";
    case Severity::error:
    case Severity::critical: break;
  }
  return "error";
}

// The file, or the object of a cluster.
std::string place_name(const Finding& finding) {
  return finding.location ? finding.location->file : entity_word(finding.entity);
}

std::string place_of(const Finding& finding) {
  if (!finding.location) {
    return place_name(finding) + (finding.field.empty() ? "" : " " + finding.field);
  }
  const FileLocation& at = *finding.location;
  return fmt::format("{}:{}:{}", at.file, at.line, at.column);
}

// What GitHub shows a message beside; what is in no file has only its title.
std::string github_place(const Finding& finding) {
  if (!finding.location) return {};
  const FileLocation& at = *finding.location;
  return fmt::format("file={},line={},col={},", command_text(at.file, true), at.line, at.column);
}

void append_case(std::string& out, const Finding& finding) {
  out +=
      fmt::format("    <testcase classname=\"{}\" name=\"{} at {}\">\n", xml_escaped(finding.rule),
                  xml_escaped(finding.rule), xml_escaped(place_of(finding)));
  out += fmt::format("      <failure type=\"{}\" message=\"{}\">{}\n{}\n{}\n{}</failure>\n",
                     to_string(finding.severity), xml_escaped(finding.message),
                     xml_escaped(place_of(finding)), xml_escaped(finding.cause),
                     xml_escaped(finding.fix), xml_escaped(finding.source));
  out += "    </testcase>\n";
}

}  // namespace

std::string render_junit(std::span<const Finding> findings, std::span<const std::string> files) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  std::string suites;
  for (const auto& file : files) {
    std::string cases;
    std::size_t failed = 0;
    for (const Finding& finding : findings) {
      if (place_name(finding) != file) continue;
      append_case(cases, finding);
      ++failed;
    }
    if (failed == 0)
      cases = fmt::format("    <testcase classname=\"lint\" name=\"{}\"/>\n", xml_escaped(file));
    suites += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n{}",
                          xml_escaped(file), std::max<std::size_t>(failed, 1), failed, cases);
    suites += "  </testsuite>\n";
  }
  out += fmt::format("<testsuites name=\"stoker lint\" failures=\"{}\">\n{}</testsuites>\n",
                     findings.size(), suites);
  return out;
}

std::string render_github(std::span<const Finding> findings) {
  std::string out;
  for (const Finding& finding : findings) {
    const std::string about = finding.location ? "" : place_of(finding) + ": ";
    out += fmt::format("::{} {}title={}::{}\n", command_of(finding.severity), github_place(finding),
                       command_text(finding.rule, true),
                       command_text(about + finding.message + ". " + finding.fix, false));
  }
  return out;
}

}  // namespace stoker::lint
