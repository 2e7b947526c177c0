#include "api/incident_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "api/document_reader.h"
#include "base/json_text.h"

namespace stoker::api {
namespace {

constexpr std::array<std::string_view, 3> keys = {"to", "note", "for_seconds"};
constexpr std::int64_t longest_seconds = 366LL * 86'400;
constexpr std::size_t longest_note = 1024;
constexpr const char* right = R"({"to":"suppressed","note":"why","for_seconds":3600})";

tl::unexpected<Error> wrong_change(const std::string& what) {
  return fail(ErrorCode::invalid_input, fmt::format("{}; right would be {}", what, right));
}

Result<void> check_keys(const Json& object) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      return wrong_change(fmt::format("\"{}\" is not known", key.substr(0, 64)));
    }
  }
  return {};
}

Result<std::optional<Nanoseconds>> duration_of(const Json& object, IncidentState to) {
  if (!object.contains("for_seconds")) return std::nullopt;
  const Json& value = object.at("for_seconds");
  if (to != IncidentState::suppressed)
    return wrong_change("for_seconds goes with suppressed alone");
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(longest_seconds)) {
    return wrong_change(fmt::format("for_seconds is a whole number from 1 to {}", longest_seconds));
  }
  return Nanoseconds(Seconds(value.get<std::int64_t>()));
}

}  // namespace

Result<incident::Request> parse_incident_request(const std::string& body) {
  const auto object = Json::parse(body, nullptr, false);
  if (!object.is_object()) return wrong_change("the body is no JSON object");
  if (auto known = check_keys(object); !known) return fail(known.error());
  incident::Request request;
  const auto to = object.contains("to") && object.at("to").is_string()
                      ? incident_state_of(object.at("to").get<std::string>())
                      : std::nullopt;
  if (!to || *to == IncidentState::proving) {
    return wrong_change("\"to\" is one of acknowledged, mitigating, suppressed, resolved and open");
  }
  request.to = *to;
  if (object.contains("note")) {
    if (!object.at("note").is_string()) return wrong_change("\"note\" is a text");
    request.note = object.at("note").get<std::string>();
    if (request.note.size() > longest_note) {
      return wrong_change(fmt::format("\"note\" has at most {} bytes", longest_note));
    }
  }
  auto duration = duration_of(object, *to);
  if (!duration) return fail(duration.error());
  request.for_how_long = *duration;
  return request;
}

std::string incident_request_body(const incident::Request& request) {
  JsonWriter json;
  json.begin_object().member("to", to_string(request.to));
  if (!request.note.empty()) json.member("note", request.note);
  if (request.for_how_long) json.member("for_seconds", *request.for_how_long / Seconds(1));
  json.end_object();
  return json.text();
}

}  // namespace stoker::api
