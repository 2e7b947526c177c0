#include "diag_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "api/text_table.h"
#include "diag/report.h"
#include "verbs.h"

namespace stoker::app {
namespace {

// A median of more would not follow a card that was repaired, of fewer one bad run would move.
constexpr std::size_t compared_results = 10;

std::string product_of(const store::Snapshot& snapshot, const std::string& uuid) {
  const auto* gpu = store::gpu_with(snapshot, uuid);
  return gpu == nullptr ? "" : gpu->info.name;
}

bool is_there(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

void write_row(JsonWriter& json, const db::DiagRow& row) {
  json.begin_object()
      .member("started", row.started)
      .member("card", row.card)
      .member("uuid", row.uuid);
  json.member("product", row.product).member("driver", row.driver).member("gpu", row.gpu);
  json.member("test", row.test).member("verdict", row.verdict);
  const auto number = [&json](const char* name, const std::optional<double>& value) {
    if (value) {
      json.member(name, *value);
    } else {
      json.key(name).null().member(std::string(name) + "_reason", "not_measured");
    }
  };
  number("value", row.value);
  json.member_or_null("unit", row.unit);
  number("power_watts", row.power_watts);
  json.member("reason", row.reason).member("made_level", row.made_level).end_object();
}

void print_rows(const std::vector<db::DiagRow>& rows) {
  api::TextTable table({{.title = "when"},
                        {.title = "card"},
                        {.title = "test"},
                        {.title = "verdict"},
                        {.title = "value", .align = api::Align::right},
                        {.title = "power", .align = api::Align::right}});
  for (const auto& row : rows) {
    table.add({row.started.substr(0, 19), row.card, row.test, row.verdict,
               diag::value_text(row.value, row.unit),
               row.power_watts ? fmt::format("{:.0f} W", *row.power_watts) : "-"});
  }
  fmt::print("{}", table.text());
}

}  // namespace

db::DiagGpu kept_as(const diag::CardTraits& card, const std::vector<diag::CardTraits>& cards) {
  const bool shared = std::ranges::count(cards, card.serial, &diag::CardTraits::serial) > 1;
  return {card.uuid, shared ? "" : card.serial};
}

Result<diag::Earlier> DiagHistory::earlier(const std::vector<diag::CardTraits>& cards) const {
  diag::Earlier out;
  if (!is_there(file_)) return out;
  auto file = db::DiagDb::open(file_);
  if (!file) return fail(file.error());
  for (const auto& card : cards) {
    // Every test of some runs; what failed or was not made is passed over.
    const auto rows = (*file)->find({.gpu = kept_as(card, cards), .most = 100 * compared_results});
    if (!rows) return fail(rows.error());
    for (const auto& row : *rows) {
      auto& values = out[{diag::key_of(card), row.test}];
      if (row.verdict == "pass" && row.value && values.size() < compared_results)
        values.push_back(*row.value);
    }
  }
  return out;
}

Result<void> DiagHistory::keep(const std::vector<diag::TestResult>& results,
                               const store::Snapshot& snapshot, const std::string& started,
                               const std::map<std::uint32_t, int>& made) const {
  std::vector<db::DiagRow> rows;
  for (const auto& one : results) {
    if (!one.gpu) continue;
    const auto level = made.find(*one.gpu);
    rows.push_back({.started = started,
                    .card = one.serial.empty() ? one.uuid : one.serial,
                    .uuid = one.uuid,
                    .product = product_of(snapshot, one.uuid),
                    .driver = snapshot.driver ? snapshot.driver->driver_version : "",
                    .gpu = *one.gpu,
                    .test = one.name,
                    .verdict = diag::to_string(one.verdict),
                    .value = one.value,
                    .unit = one.unit,
                    .power_watts = one.power_watts,
                    .reason = one.reason,
                    .made_level = level == made.end() ? 0 : level->second});
  }
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(file_).parent_path(), problem);
  auto file = db::DiagDb::open(file_);
  if (!file) return fail(file.error());
  return (*file)->save(rows);
}

int run_diag_history(const DiagHistoryFlags& flags) {
  const auto settings = resolve_settings(flags.config);
  if (!settings) return exit_could_not;
  const std::string path = settings->text(config::OptionId::data) + "/diag.db";
  if (!is_there(path)) return complain(path + " is not there: `stoker diag --level 2` makes it");
  auto file = db::DiagDb::open(path);
  if (!file) return complain(file.error().describe());
  const auto rows = (*file)->find({.card = flags.gpu, .test = flags.test, .most = flags.most});
  if (!rows) return complain(rows.error().describe());
  if (flags.output == Output::table) {
    print_rows(*rows);
    return exit_nothing_wrong;
  }
  JsonWriter json;
  json.begin_object()
      .member("schema", "stoker.dev/v1/diag-result")
      .key("diag_results")
      .begin_array();
  for (const auto& row : *rows) write_row(json, row);
  json.end_array().end_object();
  return print_document(json.text(), flags.output);
}

}  // namespace stoker::app
