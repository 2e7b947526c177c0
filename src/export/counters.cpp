#include "export/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/closest.h"
#include "base/utf8.h"
#include "catalog/dcgm_names.h"
#include "export/csv.h"

namespace stoker::exporting {
namespace {

// A file with more is hardly a counter file; the rest of it is not looked at.
constexpr int errors_shown = 50;

// What dcgm-exporter counts itself over a window of time (internal/pkg/counters/const.go), and what
// Stoker has for it.
struct Substitute {
  std::string_view name;
  std::string_view instead;
};
constexpr auto substitutes = std::to_array<Substitute>({
    {"DCGM_EXP_XID_ERRORS_COUNT", "use increase(stoker_xid_total[5m])"},
    {"DCGM_EXP_CLOCK_EVENTS_COUNT", "use the bits of DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"},
    {"DCGM_EXP_GPU_HEALTH_STATUS", "use stoker_findings and stoker_verdict"},
    {"DCGM_EXP_P2P_STATUS", "see `stoker topo`"},
});

// internal/pkg/counters/variables.go
constexpr auto types =
    std::to_array<std::string_view>({"gauge", "counter", "label", "histogram", "summary"});

bool is_plain_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    const auto c = static_cast<unsigned char>(text[at]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return false;
    at += length;
  }
  return true;
}

MetricType type_of(const Field& row) {
  return row.kind == FieldKind::counter ? MetricType::counter : MetricType::gauge;
}

class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  ParsedCounters parse(std::string_view text) {
    const Csv csv = read_csv(text);
    for (const CsvProblem& problem : csv.problems) {
      say(Severity::error, "counters-syntax", problem.place, problem.what, problem.fix);
    }
    for (const auto& row : csv.rows) take_row(row);
    if (csv.rows.empty() && csv.problems.empty()) {
      say(Severity::error, "counters-empty", {}, "no counter is listed",
          "write a row a counter, e.g. DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature");
    }
    std::sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
      return std::tie(a.location->line, a.location->column, a.rule) <
             std::tie(b.location->line, b.location->column, b.rule);
    });
    if (errors_ > 0) return {.list = std::nullopt, .findings = std::move(findings_)};
    sort_list();
    return {.list = std::move(list_), .findings = std::move(findings_)};
  }

 private:
  void say(Severity severity, std::string rule, CsvPlace place, std::string message,
           std::string fix) {
    if (severity == Severity::error && errors_++ >= errors_shown) return;
    Finding finding;
    finding.rule = std::move(rule);
    finding.severity = severity;
    finding.entity = {EntityKind::file, file_};
    finding.location = FileLocation{file_, place.line, place.column};
    finding.message = std::move(message);
    finding.action = Action::fix_config;
    finding.fix = std::move(fix);
    findings_.push_back(std::move(finding));
  }

  void take_row(const std::vector<CsvCell>& row) {
    if (errors_ >= errors_shown) return;
    if (row.size() != 3) {
      const bool more = row.size() > 3;
      return say(Severity::error, "counters-syntax", more ? row[3].place : row[0].place,
                 fmt::format("a row has three cells, and this one has {}", row.size()),
                 more ? "put the help text in double quotes if it has commas"
                      : "write FIELD, TYPE, HELP; the commas have to be there also where the help "
                        "text is empty");
    }
    const bool good_type = check_type(row[1]);
    const bool good_help = check_help(row[2]);
    const auto id = id_of(row[0]);
    if (!id || !good_type || !good_help || is_repeated(row[0])) return;
    if (row[1].text == "label") return take_label(*id, row);
    take_series(*id, row);
  }

  bool check_type(const CsvCell& cell) {
    if (std::find(types.begin(), types.end(), cell.text) != types.end()) return true;
    const auto hint = did_you_mean(cell.text, {types.begin(), types.end()});
    say(Severity::error, "counters-wrong-type", cell.place,
        fmt::format("there is no type \"{}\"", cell.text),
        hint.empty() ? "write gauge, counter or label" : hint);
    return false;
  }

  bool check_help(const CsvCell& cell) {
    if (is_plain_text(cell.text)) return true;
    say(Severity::error, "counters-syntax", cell.place,
        "the help text has control characters, or is not UTF-8", "write it as plain text");
    return false;
  }

  // DCGM's id of the field in `cell`; nullopt after saying why there is none.
  std::optional<int> id_of(const CsvCell& cell) {
    if (const auto id = dcgm_id_of(cell.text)) return id;
    const auto* known =
        std::find_if(substitutes.begin(), substitutes.end(),
                     [&cell](const Substitute& one) { return one.name == cell.text; });
    if (known != substitutes.end()) {
      not_read(cell, known->instead);
      return std::nullopt;
    }
    if (!is_plain_text(cell.text)) {
      say(Severity::error, "counters-syntax", cell.place, "the field's name is not plain text",
          "write a name as DCGM_FI_DEV_GPU_TEMP");
      return std::nullopt;
    }
    const auto hint = did_you_mean(cell.text, dcgm_names());
    say(Severity::error, "counters-unknown-field", cell.place,
        fmt::format("DCGM has no field \"{}\"", cell.text),
        hint.empty() ? "`stoker fields` lists those that Stoker reads" : hint);
    return std::nullopt;
  }

  void not_read(const CsvCell& cell, std::string_view instead) {
    say(Severity::warning, "counters-not-read", cell.place,
        fmt::format("{} is not read by Stoker: it gets no series, the others do", cell.text),
        std::string(instead));
  }

  // The first row of a name counts, as in dcgm-exporter.
  bool is_repeated(const CsvCell& cell) {
    const auto [known, is_new] = lines_.emplace(cell.text, cell.place.line);
    if (is_new) return false;
    say(Severity::warning, "counters-twice", cell.place,
        fmt::format("{} is listed in line {} already: this row is passed over", cell.text,
                    known->second),
        "take one of the two rows out");
    return true;
  }

  void take_label(int id, const std::vector<CsvCell>& row) {
    const TextField* text = text_field(id);
    const Field* field = text == nullptr ? field_of_dcgm(id) : nullptr;
    if (text == nullptr && field == nullptr) return not_read(row[0], "take the row out");
    list_.labels.push_back({.name = row[0].text, .text = text, .field = field});
  }

  void take_series(int id, const std::vector<CsvCell>& row) {
    const std::string& type = row[1].text;
    if (const TextField* text = text_field(id)) {
      if (text->number) return not_read(row[0], "its type can be label");
      return say(Severity::error, "counters-wrong-type", row[1].place,
                 fmt::format("{} is a text, which can't be a {}", row[0].text, type),
                 "write label");
    }
    const Field* field = field_of_dcgm(id);
    if (field == nullptr) return not_read(row[0], "take the row out");
    CounterSeries series{
        .field = field, .name = row[0].text, .type = type_of(*field), .help = row[2].text};
    if (type == "counter") series.type = MetricType::counter;
    if (type == "gauge") series.type = MetricType::gauge;
    if (type == "histogram" || type == "summary") {
      const bool counts = series.type == MetricType::counter;
      say(Severity::warning, "counters-wrong-type", row[1].place,
          fmt::format("{} is one number and no {}: it is told as a {}", row[0].text, type,
                      counts ? "counter" : "gauge"),
          counts ? "write counter" : "write gauge");
    }
    list_.series.push_back(std::move(series));
  }

  void sort_list() {
    std::sort(list_.series.begin(), list_.series.end(),
              [](const CounterSeries& a, const CounterSeries& b) {
                return std::pair(a.field->dcgm_id, std::string_view(a.name)) <
                       std::pair(b.field->dcgm_id, std::string_view(b.name));
              });
    std::sort(list_.labels.begin(), list_.labels.end(),
              [](const CounterLabel& a, const CounterLabel& b) { return a.name < b.name; });
  }

  const std::string& file_;
  CounterList list_;
  std::vector<Finding> findings_;
  int errors_ = 0;
  std::map<std::string, int> lines_;  // where a name stood first
};

CounterList make_default() {
  CounterList list;
  for (const Field& row : all_fields()) {
    if (row.series != Series::on) continue;
    list.series.push_back({.field = &row,
                           .name = std::string(row.dcgm_name),
                           .type = type_of(row),
                           .help = std::string(row.help)});
  }
  std::sort(list.series.begin(), list.series.end(),
            [](const CounterSeries& a, const CounterSeries& b) {
              return a.field->dcgm_id < b.field->dcgm_id;
            });
  list.labels.push_back(
      {.name = "DCGM_FI_DRIVER_VERSION", .text = text_field(1), .field = nullptr});
  return list;
}

}  // namespace

const CounterList& default_counters() {
  static const CounterList list = make_default();
  return list;
}

ParsedCounters parse_counters(std::string_view text, const std::string& file) {
  return Parser(file).parse(text);
}

}  // namespace stoker::exporting
