#include "api/document_reader.h"

#include <array>
#include <optional>

namespace stoker::api {
namespace {

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() ? nullptr : &*found;
}

// A line or column; 0 for anything that can be none.
int count_of(const Json& object, std::string_view key) {
  const double number = number_of(object, key);
  return number >= 1 && number <= 1e9 ? static_cast<int>(number) : 0;
}

// The enumerator, up to `last`, whose word is `word`.
template <typename T>
std::optional<T> from_word(const std::string& word, T last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (to_string(static_cast<T>(i)) == word) return static_cast<T>(i);
  }
  return std::nullopt;
}

}  // namespace

Result<Json> read_document(const std::string& text) {
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || !text_of(document, "schema").starts_with("stoker.dev/v1/")) {
    return fail(ErrorCode::corrupt,
                "the answer is no document of Stoker's API: is that address another program's?");
  }
  return document;
}

std::string text_of(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

double number_of(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  return found != nullptr && found->is_number() ? found->get<double>() : 0.0;
}

bool flag_of(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

const Json& list_of(const Json& object, std::string_view key) {
  static const Json none = Json::array();
  const Json* found = member(object, key);
  return found != nullptr && found->is_structured() ? *found : none;
}

Finding read_finding(const Json& object) {
  Finding finding;
  finding.rule = text_of(object, "rule");
  finding.severity =
      from_word(text_of(object, "severity"), Severity::critical).value_or(Severity::critical);
  finding.state =
      from_word(text_of(object, "state"), FindingState::clear).value_or(FindingState::firing);
  const std::string entity = text_of(object, "entity");
  const auto colon = entity.find(':');
  if (colon != std::string::npos) {
    finding.entity.kind =
        from_word(entity.substr(0, colon), EntityKind::cluster).value_or(EntityKind::node);
    finding.entity.id = entity.substr(colon + 1);
  }
  if (const auto file = text_of(object, "file"); !file.empty()) {
    finding.location = FileLocation{file, count_of(object, "line"), count_of(object, "column")};
  }
  finding.field = text_of(object, "field");
  finding.message = text_of(object, "message");
  finding.cause = text_of(object, "cause");
  finding.action = from_word(text_of(object, "action"), Action::contact_vendor);
  finding.fix = text_of(object, "fix");
  finding.source = text_of(object, "source");
  for (const Json& line : list_of(object, "evidence")) {
    if (line.is_string()) finding.evidence.push_back(line.get<std::string>());
  }
  return finding;
}

}  // namespace stoker::api
