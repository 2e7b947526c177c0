#include "api/explanation_view.h"

#include <fmt/format.h>

#include <vector>

#include "api/document_reader.h"
#include "api/short_time.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

constexpr std::size_t paragraph_indent = 4;

// Below a heading, each text a paragraph that goes on further in.
std::string paragraphs(const std::string& heading, const std::vector<std::string>& texts,
                       std::size_t width) {
  std::string out;
  for (const auto& text : texts) {
    bool first = true;
    for (const auto& line : wrap(printable(text), width - 2 * paragraph_indent)) {
      out += fmt::format("{:{}}{}\n", "", first ? paragraph_indent : 2 * paragraph_indent, line);
      first = false;
    }
  }
  return out.empty() ? out : fmt::format("\n{}\n{}", heading, out);
}

std::vector<std::string> texts_of(const Json& one, std::string_view key) {
  std::vector<std::string> texts;
  for (const Json& each : list_of(one, key)) texts.push_back(each.get<std::string>());
  return texts;
}

std::vector<std::string> without_empty(std::vector<std::string> texts) {
  std::erase(texts, "");
  return texts;
}

std::vector<std::string> story_of(const Json& one) {
  std::vector<std::string> lines;
  for (const Json& line : list_of(one, "lines")) {
    const auto who = text_of(line, "who");
    const auto why = text_of(line, "why");
    lines.push_back(fmt::format("{}  {:<8}{}{}{}", short_time(text_of(line, "time")),
                                who.empty() ? text_of(line, "part") : who + ":",
                                who.size() > 6 ? " " : "", text_of(line, "text"),
                                why.empty() ? "" : fmt::format(" ({})", why)));
  }
  return lines;
}

// What other tools make of a number of the catalogue.
std::string others_of(const Json& entry) {
  const auto dcgm = text_of(entry, "dcgm");
  const auto gpud = text_of(entry, "gpud");
  std::string said =
      fmt::format("DCGM 4.6 health: {}", dcgm.empty() ? "does not look at it" : dcgm);
  if (!gpud.empty()) said += fmt::format("; gpud: {}", gpud);
  if (flag_of(entry, "device_plugin_ignores")) {
    said += "; NVIDIA's device plugin never calls a GPU unhealthy for it";
  }
  if (flag_of(entry, "azure_fails_node")) said += "; Azure's health checks fail the node";
  return fmt::format("{} {:.0f}: {}", text_of(entry, "kind") == "sxid" ? "SXid" : "Xid",
                     number_of(entry, "code"), said);
}

}  // namespace

Result<std::string> view_explanation(const std::string& document, const TableStyle& style) {
  const auto read = read_document(document);
  if (!read) return fail(read.error());
  const Json& all = list_of(*read, "explanations");
  if (all.empty()) return fail(ErrorCode::corrupt, "the document has no explanation");
  const Json& one = all.front();
  const auto title = text_of(one, "title");
  std::vector<std::string> others;
  for (const Json& entry : list_of(one, "catalogue")) others.push_back(others_of(entry));
  if (!others.empty()) {
    others.emplace_back(
        "gpud's letters: R reboot, H inspect the hardware, A check the application, I ignore");
  }
  std::vector<std::string> checks;
  for (const Json& finding : list_of(one, "findings")) {
    checks.push_back(fmt::format("{}: {} ({})", text_of(finding, "rule"),
                                 text_of(finding, "message"), text_of(finding, "source")));
  }
  std::string out =
      paragraphs(fmt::format("Incident {:.0f}, {} since {}", number_of(one, "id"),
                             text_of(one, "state"), short_time(text_of(one, "opened_at"))),
                 {text_of(one, "message")}, style.width)
          .substr(1);
  out += paragraphs(fmt::format("why {}", text_of(one, "cause")),
                    without_empty({title.empty() ? "" : text_of(one, "about") + " " + title,
                                   text_of(one, "why_this_cause"), text_of(one, "explanation")}),
                    style.width);
  out += paragraphs(fmt::format("why {}", text_of(one, "action")),
                    without_empty({text_of(one, "why_this_action"), text_of(one, "fix")}),
                    style.width);
  out += paragraphs("what happened", story_of(one), style.width);
  out += paragraphs("what checks find now", checks, style.width);
  out += paragraphs("what other tools make of it", others, style.width);
  out += paragraphs("what to look at next", texts_of(one, "next"), style.width);
  out += paragraphs("on whose word", texts_of(one, "sources"), style.width);
  return out;
}

}  // namespace stoker::api
