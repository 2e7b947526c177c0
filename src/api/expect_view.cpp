#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/document_reader.h"
#include "api/expect_document.h"
#include "api/text_table.h"
#include "base/json_text.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

constexpr std::string_view section = "expect.";

std::vector<std::string> details_of(const Json& row) {
  std::vector<std::string> details;
  for (const Json& detail : list_of(row, "details")) {
    if (detail.is_string()) details.push_back(detail.get<std::string>());
  }
  return details;
}

bool is_list(std::string_view key) { return key == "expect.product" || key == "expect.nics"; }

// "a,b" as ["a", "b"].
std::string yaml_list(std::string_view words) {
  std::string out;
  while (!words.empty()) {
    const auto comma = std::min(words.find(','), words.size());
    out += (out.empty() ? "" : ", ") + json_quoted(words.substr(0, comma));
    words.remove_prefix(std::min(comma + 1, words.size()));
  }
  return "[" + out + "]";
}

// A list of NICs would make the table wider than a terminal; what differs is said below it.
std::string shortened(const std::string& value) {
  constexpr std::size_t most = 22;
  return cut_end(value, most);
}

std::string seen_word(const std::string& reason) {
  if (reason == "mixed") return "GPUs differ";
  if (reason == "pending") return "not read yet";
  return reason == "not_supported" ? "never told" : "not known";
}

std::string yaml_line(const Json& row) {
  const std::string key = text_of(row, "key");
  const std::string name = key.substr(section.size());
  const std::string seen = text_of(row, "seen");
  const std::string reason = text_of(row, "seen_reason");
  if (reason == "mixed") return fmt::format("  # {}: left out, since the GPUs differ\n", name);
  if (reason == "not_supported") {
    return fmt::format("  # {}: left out, since the driver does not tell it\n", name);
  }
  if (seen.empty()) return fmt::format("  # {}: none\n", name);
  if (is_list(key)) return fmt::format("  {}: {}\n", name, yaml_list(seen));
  return fmt::format("  {}: {}\n", name, key == "expect.driver" ? json_quoted(seen) : seen);
}

}  // namespace

Result<ExpectView> view_expect(const std::string& document) {
  const auto json = read_document(document);
  if (!json) return fail(json.error());
  ExpectView view;
  TextTable table({{"KEY"}, {"EXPECTED"}, {"SEEN"}, {"MATCH"}});
  std::string details;
  for (const Json& row : list_of(*json, "expectations")) {
    const std::string match = text_of(row, "match");
    const std::string expected = text_of(row, "expected");
    const std::string reason = text_of(row, "seen_reason");
    table.add({text_of(row, "key"), expected.empty() ? "-" : shortened(expected),
               reason.empty() ? shortened(text_of(row, "seen")) : seen_word(reason), match});
    if (match == "not_expected") continue;
    view.anything_expected = true;
    if (match == "met") continue;
    view.all_met = false;
    for (const auto& detail : details_of(row)) {
      details += fmt::format("  {}: {}\n", text_of(row, "key"), detail);
    }
  }
  view.text = table.text() + (details.empty() ? "" : "\n" + details);
  return view;
}

Result<std::string> expect_section(const std::string& document) {
  const auto json = read_document(document);
  if (!json) return fail(json.error());
  std::string text = "expect:\n";
  std::vector<std::string> unknown;
  for (const Json& row : list_of(*json, "expectations")) {
    const std::string reason = text_of(row, "seen_reason");
    if (reason.empty() || reason == "mixed" || reason == "not_supported") {
      text += yaml_line(row);
      continue;
    }
    for (const auto& detail : details_of(row)) {
      unknown.push_back(fmt::format("{}: {}", text_of(row, "key"), detail));
    }
  }
  if (unknown.empty()) return text;
  return fail(ErrorCode::unavailable,
              fmt::format("not everything is known, so nothing is written:\n  {}",
                          fmt::join(unknown, "\n  ")));
}

}  // namespace stoker::api
