#include "api/maintenance_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "api/document_reader.h"
#include "api/maintenance_view.h"
#include "incident/maintenance.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

constexpr const char* right_maintenance = R"({"for_seconds":1800,"why":"..."} or {"over":true})";
constexpr std::size_t longest_why = 1024;
// As many as may wait, incident/hold_back.h, and then some.
constexpr std::size_t most_places = 1024;

tl::unexpected<Error> wrong_maintenance(const std::string& what) {
  return fail(ErrorCode::invalid_input,
              fmt::format("{}; right would be {}", what, right_maintenance));
}

Result<Nanoseconds> length_of(const Json& value) {
  constexpr auto most = static_cast<std::uint64_t>(incident::longest_maintenance.count());
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
      value.get<std::uint64_t>() > most) {
    return wrong_maintenance(fmt::format("for_seconds is a whole number from 1 to {}", most));
  }
  return Nanoseconds(Seconds(value.get<std::int64_t>()));
}

// Whole nanoseconds; nullopt where there is no such number.
std::optional<Nanoseconds> nanoseconds_of(const Json& object, const char* key) {
  if (!object.contains(key) || !object.at(key).is_number_integer()) return std::nullopt;
  return Nanoseconds(object.at(key).get<std::int64_t>());
}

}  // namespace

void write_maintenance(JsonWriter& json, const MaintenanceNow& now) {
  json.begin_object().member("began_at", format_utc(now.mark.began));
  json.member("until", format_utc(now.until)).member("by", now.mark.who);
  json.member("why", now.mark.why).member_or_null("boot", now.mark.boot);
  json.member("events_waiting", now.mark.waiting.size()).end_object();
}

std::string maintenance_words(const Json& object) {
  if (object.empty()) return {};
  std::string words = fmt::format("until {}, by {}: {}", text_of(object, "until"),
                                  text_of(object, "by"), text_of(object, "why"));
  const double waiting = number_of(object, "events_waiting");
  if (waiting > 0) words += fmt::format("; events that wait for its end: {}", waiting);
  return words;
}

Result<std::string> view_maintenance(const std::string& document) {
  const auto read = read_document(document);
  if (!read) return fail(read.error());
  const Json& all = list_of(*read, "maintenances");
  if (all.empty()) return std::string("No maintenance is planned.\n");
  return fmt::format("Planned maintenance {}.\n", maintenance_words(*all.begin()));
}

std::string maintenance_document(const std::optional<MaintenanceNow>& now) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/maintenance").key("maintenances");
  json.begin_array();
  if (now) write_maintenance(json, *now);
  json.end_array().end_object();
  return json.text();
}

Result<MaintenanceRequest> parse_maintenance_request(const std::string& body) {
  constexpr std::array<std::string_view, 3> keys = {"for_seconds", "why", "over"};
  const auto object = Json::parse(body, nullptr, false);
  if (!object.is_object()) return wrong_maintenance("the body is no JSON object");
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      return wrong_maintenance(fmt::format("\"{}\" is not known", key.substr(0, 64)));
    }
  }
  MaintenanceRequest request;
  if (object.contains("over")) {
    if (object.size() == 1 && flag_of(object, "over")) return request;
    return wrong_maintenance("\"over\" is true, and stands alone");
  }
  if (!object.contains("for_seconds")) return wrong_maintenance("for how long is not said");
  const auto length = length_of(object.at("for_seconds"));
  if (!length) return fail(length.error());
  request.length = *length;
  request.why = printable(text_of(object, "why"));  // it is shown in terminals
  if (request.why.empty() || request.why.size() > longest_why) {
    return wrong_maintenance(
        fmt::format("\"why\" is a text of at most {} bytes, and has to be said", longest_why));
  }
  return request;
}

std::string maintenance_request_body(const MaintenanceRequest& request) {
  JsonWriter json;
  json.begin_object();
  if (!request.length) {
    json.member("over", true);
  } else {
    json.member("for_seconds", *request.length / Seconds(1)).member("why", request.why);
  }
  json.end_object();
  return json.text();
}

std::string maintenance_file(const Maintenance& mark) {
  JsonWriter json;
  json.begin_object().member("schema", "stoker.dev/v1/maintenance-file");
  json.member("began_ns", mark.began.since_epoch.count());
  json.member("ends_ns", mark.ends.since_epoch.count());
  json.member("began_since_boot_ns", mark.began_at.since_boot.count());
  json.member("boot", mark.boot).member("by", mark.who).member("why", mark.why);
  json.key("waiting").begin_array();
  for (const auto& one : mark.waiting) {
    json.begin_object().member("boot", one.boot).member("source", one.source);
    json.member("offset", one.offset).end_object();
  }
  json.end_array().end_object();
  return json.text();
}

Result<Maintenance> parse_maintenance_file(const std::string& text) {
  const auto read = Json::parse(text, nullptr, false);
  const auto began = nanoseconds_of(read, "began_ns");
  const auto ends = nanoseconds_of(read, "ends_ns");
  const auto began_at = nanoseconds_of(read, "began_since_boot_ns");
  if (text_of(read, "schema") != "stoker.dev/v1/maintenance-file" || !began || !ends || !began_at ||
      *began < Nanoseconds{0} || *ends < *began || *ends - *began > incident::longest_maintenance) {
    return fail(ErrorCode::corrupt, "it does not say when a maintenance began and when it ends");
  }
  Maintenance mark{.began = {*began},
                   .ends = {*ends},
                   .began_at = {*began_at},
                   .boot = text_of(read, "boot"),
                   .who = text_of(read, "by"),
                   .why = text_of(read, "why"),
                   .waiting = {}};
  for (const Json& one : list_of(read, "waiting")) {
    if (mark.waiting.size() >= most_places) break;
    if (!one.contains("offset") || !one.at("offset").is_number_unsigned()) continue;
    mark.waiting.push_back(
        {text_of(one, "boot"), text_of(one, "source"), one.at("offset").get<std::uint64_t>()});
  }
  return mark;
}

}  // namespace stoker::api
