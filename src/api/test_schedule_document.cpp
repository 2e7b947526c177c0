#include "api/test_schedule_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "api/documents.h"
#include "api/short_time.h"
#include "api/text_table.h"
#include "base/duration.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

constexpr const char* tests_member = "tests";

void write_last_run(JsonWriter& json, const std::optional<TestRun>& last) {
  if (!last) {
    json.inapplicable("last_run");
    return;
  }
  json.key("last_run").begin_object().member("began_at", format_utc(last->began));
  json.member("end", to_string(last->end)).member_or_null("why", last->reason);
  json.member("in_a_row", last->in_a_row).end_object();
}

std::string time_option_text(const Json& tests, std::string_view key) {
  return format_duration(Nanoseconds(static_cast<std::int64_t>(number_of(tests, key) * 1e9)));
}

// "given up, 3 times: process 42 (python3) is on GPU 1"
std::string last_run_text(const Json& card) {
  const Json& last = list_of(card, "last_run");
  if (last.empty()) return "none";
  std::string end = text_of(last, "end");
  std::ranges::replace(end, '_', ' ');
  const double times = number_of(last, "in_a_row");
  if (times > 1) end += fmt::format(", {:.0f} times", times);
  const auto why = text_of(last, "why");
  return why.empty() ? end : fmt::format("{}: {}", end, printable(why));
}

std::string next_text(const Json& card) {
  const auto next = text_of(card, "next_at");
  if (!next.empty()) return short_time(next);
  const auto why = text_of(card, "why");
  return why.empty() ? text_of(card, "state") : printable(why);
}

}  // namespace

void write_test_schedule(JsonWriter& json, const store::Snapshot& snapshot) {
  if (snapshot.tests == nullptr) {
    json.inapplicable(tests_member);
    return;
  }
  const auto& tests = *snapshot.tests;
  json.key(tests_member).begin_object().member("level", tests.level);
  json.member("idle_seconds", in_seconds(tests.idle))
      .member("every_seconds", in_seconds(tests.every));
  json.key("gpus").begin_array();
  for (const auto& card : tests.cards) {
    const auto* gpu = store::gpu_with(snapshot, card.uuid);
    if (gpu == nullptr) continue;
    json.begin_object().member("index", gpu->info.index).member("uuid", card.uuid);
    json.member("state", to_string(card.state)).member_or_null("why", card.why);
    write_time(json, "tested_at", card.tested);
    write_time(json, "next_at", card.next);
    write_last_run(json, card.last);
    json.end_object();
  }
  json.end_array().end_object();
}

std::string view_test_schedule(const Json& status, bool verbose) {
  const Json& tests = list_of(status, tests_member);
  if (tests.empty())
    return verbose ? fmt::format("{:<10}no idle GPU is tested (diag.idle is 0s)\n", tests_member)
                   : "";
  std::string out =
      fmt::format("{:<10}level {} on a GPU that was idle for {}, every {} at most\n", tests_member,
                  number_of(tests, "level"), time_option_text(tests, "idle_seconds"),
                  time_option_text(tests, "every_seconds"));
  if (list_of(tests, "gpus").empty()) return out;
  TextTable table({{.title = "GPU", .align = Align::right},
                   {.title = "TESTED"},
                   {.title = "NEXT, OR WHY NOT"},
                   {.title = "LAST RUN"}});
  for (const Json& card : list_of(tests, "gpus")) {
    const auto tested = text_of(card, "tested_at");
    table.add({fmt::format("{:.0f}", number_of(card, "index")),
               tested.empty() ? "never" : short_time(tested), next_text(card),
               last_run_text(card)});
  }
  return out + table.text();
}

}  // namespace stoker::api
