// Edge: reading the API's own documents. Internal to src/api.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/finding.h"

namespace stoker::api {

// Keeps the order of keys.
using Json = nlohmann::ordered_json;

// corrupt unless `text` is an object with our schema.
Result<Json> read_document(const std::string& text);

// The text or number of `key`; "" and 0 where it is missing, null or of another kind.
std::string text_of(const Json& object, std::string_view key);
double number_of(const Json& object, std::string_view key);
bool flag_of(const Json& object, std::string_view key);
// The list or object of `key`; an empty one where it is missing.
const Json& list_of(const Json& object, std::string_view key);

// A finding as write_finding() wrote it.
Finding read_finding(const Json& object);

}  // namespace stoker::api
