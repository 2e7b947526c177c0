#include "lint/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/render.h"

namespace stoker::lint {
namespace {

constexpr std::string_view first_line = "# stoker lint baseline 1: rule, file, message";

std::string without_breaks(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string line_of(const Finding& finding) {
  const std::string file = finding.location ? finding.location->file : entity_word(finding.entity);
  return fmt::format("{}\t{}\t{}", finding.rule, without_breaks(file),
                     without_breaks(finding.message));
}

}  // namespace

std::string write_baseline(std::span<const Finding> findings) {
  std::vector<std::string> lines;
  lines.reserve(findings.size());
  for (const Finding& finding : findings) lines.push_back(line_of(finding));
  std::sort(lines.begin(), lines.end());
  std::string out(first_line);
  out += '\n';
  for (const auto& line : lines) out += line + '\n';
  return out;
}

Result<std::size_t> take_out_known(std::string_view baseline, std::vector<Finding>& findings) {
  std::map<std::string, int, std::less<>> known;
  int number = 1;
  for (auto rest = baseline; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (number == 1 && line != first_line) {
      return fail(ErrorCode::invalid_input, "line 1: this is no baseline of stoker lint");
    }
    if (line.empty() || line.starts_with('#')) continue;
    if (std::ranges::count(line, '\t') != 2) {
      return fail(
          ErrorCode::invalid_input,
          fmt::format("line {}: rule, file and message have to have a tab between", number));
    }
    ++known[std::string(line)];
  }
  return std::erase_if(findings, [&](const Finding& finding) {
    const auto found = known.find(line_of(finding));
    if (found == known.end() || found->second == 0) return false;
    --found->second;
    return true;
  });
}

}  // namespace stoker::lint
