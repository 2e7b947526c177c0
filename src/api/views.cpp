#include "api/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "api/document_reader.h"
#include "api/gpu_cells.h"
#include "api/maintenance_view.h"
#include "api/owner_cells.h"
#include "api/previous_boot_view.h"
#include "api/test_schedule_document.h"
#include "api/text_table.h"
#include "base/clock.h"
#include "history/history.h"

namespace stoker::api {
namespace {

constexpr std::size_t name_width = 14;

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// What stands in the first line, so that nobody has to look for it.
std::string verdict_line(const Json& status, const TableStyle& style) {
  const std::string verdict = text_of(status, "verdict");
  const std::string colour = verdict == "ok"         ? "\x1b[1;32m"
                             : verdict == "degraded" ? "\x1b[1;33m"
                                                     : "\x1b[1;31m";
  const std::string word = upper(verdict);
  return fmt::format("{}{:<10}{}{}\n", style.colour ? colour : "", word,
                     style.colour ? "\x1b[0m" : "", text_of(status, "reason"));
}

std::string simulated_line(const Json& status) {
  if (!flag_of(status, "simulated")) return "";
  const std::string profile = text_of(status, "simulated_profile");
  return fmt::format("SIMULATED no real cards: these exist only in files{}\n",
                     profile.empty() ? "" : fmt::format(" (profile {})", profile));
}

std::string replay_line(const Json& status) {
  const Json& replay = list_of(status, "replay");
  if (replay.empty()) return "";
  const auto time = [&replay](const char* key) {
    return format_duration(Nanoseconds(static_cast<std::int64_t>(number_of(replay, key) * 1e9)));
  };
  std::string where = flag_of(replay, "ended")
                          ? std::string("it has ended; this is its last state")
                          : fmt::format("at {}, {:g} times as fast", time("position_seconds"),
                                        number_of(replay, "speed"));
  if (const auto problem = text_of(replay, "problem"); !problem.empty()) where += ": " + problem;
  return fmt::format("REPLAY    of {}: {} from {}; {}\n", text_of(replay, "file"),
                     time("length_seconds"), text_of(replay, "recorded_at"), where);
}

std::string maintenance_line(const Json& status) {
  const auto words = maintenance_words(list_of(status, "maintenance"));
  return words.empty() ? words : fmt::format("PLANNED   maintenance {}\n", words);
}

std::string driver_text(const Json& status) {
  const Json& driver = list_of(status, "driver");
  if (driver.empty()) return fmt::format("no driver ({})", text_of(status, "driver_reason"));
  return fmt::format("driver {}, CUDA {}", text_of(driver, "driver_version"),
                     text_of(driver, "cuda_version"));
}

std::string source_text(const Json& status) {
  const Json& source = list_of(status, "source");
  std::string text = text_of(source, "state");
  if (const auto detail = text_of(source, "detail"); !detail.empty()) text += ": " + detail;
  if (const double stuck = number_of(source, "stuck_probes"); stuck > 0) {
    text += fmt::format("; {} stuck", stuck);
  }
  return text;
}

// Which process reads the driver, and which rows of its ABI are in use.
std::string driver_lines(const Json& status) {
  const Json& source = list_of(status, "source");
  std::string text =
      fmt::format("{:<10}pid {}, {} since {} s, {} restarts\n", "probe",
                  number_cell(source, "probe_pid"), text_of(source, "state"),
                  number_cell(source, "state_age_seconds"), number_cell(source, "restarts"));
  const Json& driver = list_of(status, "driver");
  text += fmt::format("{:<10}{}\n", "NVML", text_of(driver, "nvml_version"));
  for (const Json& note : list_of(driver, "abi_notes")) {
    if (note.is_string()) text += fmt::format("{:<10}{}\n", "ABI", note.get<std::string>());
  }
  return text;
}

// That nothing is known of it is no news: a machine need not keep a journal.
std::string previous_boot_line(const Json& status, bool verbose) {
  const Json& boot = list_of(status, "previous_boot");
  if (boot.empty() || (!verbose && !flag_of(boot, "known"))) return {};
  return fmt::format("{:<10}{}\n", "last boot", previous_boot_words(boot));
}

std::string host_text(const Json& node) {
  return fmt::format("CPU {} %, memory {}/{} GiB free, /dev/shm {}/{} GiB used",
                     number_cell(node, "cpu_busy_percent"),
                     number_cell(node, "memory_available_bytes", 1, gibibyte),
                     number_cell(node, "memory_total_host_bytes", 1, gibibyte),
                     number_cell(node, "shm_used_bytes", 1, gibibyte),
                     number_cell(node, "shm_total_bytes", 1, gibibyte));
}

std::vector<std::string> cells_of(const Json& gpu) {
  return {number_cell(gpu, "index"),
          name_cell(gpu, name_width),
          text_of(gpu, "state"),
          number_cell(gpu, "utilization_percent"),
          memory_cell(gpu),
          number_cell(gpu, "temperature_celsius"),
          power_cell(gpu)};
}

std::vector<Column> columns_of_gpus() {
  return {{"GPU", Align::right},         {"NAME", Align::left, name_width},
          {"STATE", Align::left, 7},     {"UTIL%", Align::right, 5},
          {"MEM GiB", Align::right, 11}, {"TEMP°C", Align::right, 6},
          {"POWER W", Align::right, 8}};
}

std::string gpu_table(const Json& gpus) {
  TextTable table(columns_of_gpus());
  for (const Json& gpu : list_of(gpus, "gpus")) table.add(cells_of(gpu));
  return table.text();
}

// How much of the past is kept, and in how much memory.
std::string history_line(const Json& fields) {
  const Json& history = list_of(fields, "history");
  if (history.empty()) return "";
  const auto count = [&history](const char* key) {
    return static_cast<std::size_t>(number_of(history, key));
  };
  const auto window = [&history](const char* key) {
    return Nanoseconds(static_cast<std::int64_t>(number_of(history, key) * 1e9));
  };
  const history::HistoryFacts facts{.series = count("series"),
                                    .bytes = count("memory_bytes"),
                                    .memory_bytes = count("memory_limit_bytes"),
                                    .readings_window = window("readings_window_seconds"),
                                    .minutes_window = window("minutes_window_seconds")};
  return fmt::format("\nhistory: {}\n", history::describe(facts));
}

std::string finding_blocks(const Json& status, const TableStyle& style) {
  std::vector<Finding> findings;
  for (const Json& finding : list_of(status, "findings")) findings.push_back(read_finding(finding));
  if (findings.empty()) return "";
  return "\n" + render_table(findings, style);
}

}  // namespace

Result<StatusView> view_status(const std::string& status, const std::string& gpus,
                               const TableStyle& style, bool verbose) {
  const auto judged = read_document(status);
  if (!judged) return fail(judged.error());
  const auto cards = read_document(gpus);
  if (!cards) return fail(cards.error());
  const Json& node = list_of(*judged, "node");
  StatusView view;
  view.healthy = text_of(*judged, "verdict") == "ok";
  view.text = verdict_line(*judged, style) + replay_line(*judged) + maintenance_line(*judged) +
              simulated_line(*judged);
  view.text +=
      fmt::format("{:<10}{}, {}\n", "node", text_of(node, "hostname"), driver_text(*judged));
  view.text += fmt::format("{:<10}{}\n", "reading", source_text(*judged));
  view.text += fmt::format("{:<10}{}\n", "host", host_text(node));
  view.text += previous_boot_line(*judged, verbose);
  if (verbose) view.text += driver_lines(*judged);
  const auto tests = view_test_schedule(*judged, verbose);
  if (!list_of(*cards, "gpus").empty()) view.text += "\n" + gpu_table(*cards);
  if (!tests.empty()) view.text += "\n" + tests;
  view.text += finding_blocks(*judged, style);
  return view;
}

Result<std::string> view_gpus(const std::string& gpus) {
  const auto document = read_document(gpus);
  if (!document) return fail(document.error());
  auto columns = columns_of_gpus();
  columns.insert(columns.begin() + 1, Column{"PCI"});
  const bool owners = std::ranges::any_of(
      list_of(*document, "gpus"), [](const Json& gpu) { return !card_owners(gpu).empty(); });
  if (owners) columns.push_back(Column{"OWNER"});
  TextTable table(std::move(columns));
  for (const Json& gpu : list_of(*document, "gpus")) {
    auto cells = cells_of(gpu);
    cells.insert(cells.begin() + 1, text_of(gpu, "pci"));
    if (owners) cells.push_back(first_of(card_owners(gpu)));
    table.add(std::move(cells));
  }
  return table.text();
}

Result<std::string> view_gpus_now(const std::string& gpus, bool with_titles) {
  const auto document = read_document(gpus);
  if (!document) return fail(document.error());
  auto columns = columns_of_gpus();
  columns.insert(columns.begin(), Column{"TIME", Align::left, 8});
  TextTable table(std::move(columns));
  // "2026-11-27T23:08:25.123Z" -> "23:08:25"
  const std::string time = text_of(*document, "time");
  for (const Json& gpu : list_of(*document, "gpus")) {
    auto cells = cells_of(gpu);
    cells.insert(cells.begin(), time.size() > 19 ? time.substr(11, 8) : time);
    table.add(std::move(cells));
  }
  return table.text(with_titles);
}

namespace {

std::string rdma_table(const Json& document) {
  TextTable table({{"RDMA COUNTER"}, {"SERIES"}});
  const auto& rows = list_of(document, "rdma_counters");
  for (const Json& row : rows) table.add({text_of(row, "counter"), text_of(row, "series")});
  return rows.empty() ? std::string() : "\n" + table.text();
}

}  // namespace

Result<std::string> view_fields(const std::string& fields) {
  const auto document = read_document(fields);
  if (!document) return fail(document.error());
  TextTable table({{"FIELD"},
                   {"ENTITY"},
                   {"GETTER"},
                   {"COST"},
                   {"CALLS", Align::right},
                   {"MEAN µs", Align::right},
                   {"MAX µs", Align::right}});
  for (const Json& field : list_of(*document, "fields")) {
    const bool called = number_of(field, "calls") > 0;
    table.add({text_of(field, "name"), text_of(field, "entity"), text_of(field, "getter"),
               text_of(field, "cost_class"), called ? number_cell(field, "calls") : "-",
               called ? number_cell(field, "call_mean_microseconds", 1) : "-",
               called ? number_cell(field, "call_longest_microseconds", 1) : "-"});
  }
  return table.text() + rdma_table(*document) + history_line(*document);
}

}  // namespace stoker::api
