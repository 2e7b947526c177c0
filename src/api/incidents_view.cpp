#include "api/incidents_view.h"

#include <fmt/format.h>

#include "api/document_reader.h"
#include "api/short_time.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

bool is_over(const Json& incident) { return text_of(incident, "state") == "resolved"; }

std::string lines(std::string_view indent, const std::string& text, std::size_t width) {
  std::string out;
  for (const auto& line : wrap(printable(text), width - indent.size())) {
    out += fmt::format("{}{}\n", indent, line);
  }
  return out;
}

std::string action_of(const Json& incident) {
  return text_of(incident, "action") +
         (flag_of(incident, "action_of_driver") ? " (the driver asks for it)" : "");
}

std::string heading(const Json& incident) {
  return fmt::format("{:.0f}  {}  {}  {}  {}\n", number_of(incident, "id"),
                     short_time(text_of(incident, "opened_at")), text_of(incident, "severity"),
                     text_of(incident, "cause"), text_of(incident, "state"));
}

std::string row(const Json& incident, std::size_t width) {
  const double times = number_of(incident, "occurrences");
  const double before = number_of(incident, "recurrence");
  return heading(incident) + lines("    ", text_of(incident, "message"), width) +
         fmt::format("    what to do: {}{}{}\n", action_of(incident),
                     times > 1 ? fmt::format("; {:.0f} signs of it", times) : "",
                     before > 0 ? fmt::format("; {:.0f} before it", before) : "");
}

std::string labelled(const char* label, const std::string& text, std::size_t width) {
  if (text.empty()) return {};
  return fmt::format("\n{}\n{}", label, lines("    ", text, width));
}

std::string list_text(const Json& incident, std::string_view key, const char* label,
                      std::string (*say)(const Json&), std::size_t width) {
  std::string out;
  for (const Json& each : list_of(incident, key)) out += lines("    ", say(each), width);
  return out.empty() ? out : fmt::format("\n{}\n{}", label, out);
}

std::string say_line(const Json& line) {
  return fmt::format("{}  {}", short_time(text_of(line, "time")), text_of(line, "text"));
}
std::string say_entry(const Json& entry) {
  return fmt::format("{}  {}: {}", short_time(text_of(entry, "time")), text_of(entry, "who"),
                     text_of(entry, "what"));
}
std::string say_finding(const Json& finding) {
  return fmt::format("{}: {}", text_of(finding, "rule"), text_of(finding, "message"));
}
std::string say_looks(const Json& incident, std::size_t width) {
  std::string out;
  for (const Json& look : list_of(incident, "looks")) {
    const bool opening = text_of(look, "kind") == "opening";
    out += fmt::format("\n{}, {}{}\n", opening ? "at its opening" : "five minutes later",
                       short_time(text_of(look, "time")), flag_of(look, "late") ? " (late)" : "");
    for (const Json& line : list_of(look, "lines")) {
      out += lines("    ", line.get<std::string>(), width);
    }
  }
  return out;
}
std::string say_text(const Json& text) { return text.get<std::string>(); }

}  // namespace

Result<IncidentsView> view_incidents(const std::string& document, const TableStyle& style) {
  const auto read = read_document(document);
  if (!read) return fail(read.error());
  IncidentsView view;
  for (const Json& incident : list_of(*read, "incidents")) {
    view.any |= !is_over(incident);
    view.text += row(incident, style.width);
  }
  if (view.text.empty()) view.text = "There is no incident.\n";
  return view;
}

Result<IncidentsView> view_incident(const std::string& document, const TableStyle& style) {
  const auto read = read_document(document);
  if (!read) return fail(read.error());
  const Json& all = list_of(*read, "incidents");
  if (all.empty()) return fail(ErrorCode::corrupt, "the document has no incident");
  const Json& incident = all.front();
  const std::size_t width = style.width;
  IncidentsView view{.any = !is_over(incident)};
  view.text = row(incident, width) + labelled("why", text_of(incident, "explanation"), width) +
              labelled("how", text_of(incident, "fix"), width) +
              labelled("on whose word", text_of(incident, "source"), width) +
              list_text(incident, "programs", "whose work it meets", &say_text, width) +
              list_text(incident, "findings", "what holds now", &say_finding, width) +
              list_text(incident, "evidence", "evidence", &say_line, width);
  if (const double more = number_of(incident, "evidence_left_out"); more > 0) {
    view.text += fmt::format("    and {:.0f} more between the first and the last of these\n", more);
  }
  view.text += say_looks(incident, width);
  view.text += list_text(incident, "timeline", "what happened to it", &say_entry, width);
  return view;
}

Result<std::string> view_incident_line(const std::string& document) {
  const auto read = read_document(document);
  if (!read) return fail(read.error());
  const Json& all = list_of(*read, "incidents");
  if (all.empty()) return fail(ErrorCode::corrupt, "the document has no incident");
  const Json& incident = all.front();
  return fmt::format("{:.0f}  {}  {}  {}  {}  {}: {}\n", number_of(incident, "id"),
                     short_time(text_of(incident, "updated_at")), text_of(incident, "severity"),
                     text_of(incident, "cause"), text_of(incident, "state"), action_of(incident),
                     printable(text_of(incident, "message")));
}

Result<std::string> pci_of_incident(const std::string& document) {
  const auto read = read_document(document);
  if (!read) return fail(read.error());
  const Json& all = list_of(*read, "incidents");
  return all.empty() ? std::string() : text_of(all.front(), "pci");
}

}  // namespace stoker::api
