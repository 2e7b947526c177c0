// Edge: a document as JSON, YAML or lines of JSON.
#include <algorithm>

#include "api/document_reader.h"
#include "api/views.h"
#include "base/json_text.h"

namespace stoker::api {
namespace {

// A word that YAML 1.2's core schema takes for text and nothing else; others are quoted as JSON does,
// which YAML reads.
bool is_plain_word(const std::string& text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  constexpr std::array<std::string_view, 11> taken = {"true", "false", "null",  "yes",  "no", "on",
                                                      "off",  "True",  "False", "Null", "y"};
  const bool letter = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  return letter && text.find_first_not_of(allowed) == std::string::npos &&
         std::ranges::find(taken, text) == taken.end();
}

std::string yaml_scalar(const Json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return is_plain_word(text) ? text : json_quoted(text);
  }
  return value.dump();
}

// `value` behind a key or a dash, at `depth` levels of indentation.
void write_yaml(const Json& value, std::size_t depth, bool in_list, std::string& out) {
  const std::string indent(2 * depth, ' ');
  if (!value.is_structured() || value.empty()) {
    out += " " + yaml_scalar(value) + "\n";
    return;
  }
  if (value.is_array()) {
    out += "\n";
    for (const Json& item : value) {
      out += indent + "-";
      write_yaml(item, depth + 1, true, out);
    }
    return;
  }
  bool first = in_list;
  if (!in_list) out += "\n";
  for (const auto& [key, item] : value.items()) {
    out += first ? " " : indent;
    out += key + ":";
    first = false;
    write_yaml(item, depth + 1, false, out);
  }
}

std::string to_yaml(const Json& document) {
  std::string out;
  for (const auto& [key, item] : document.items()) {
    out += key + ":";
    write_yaml(item, 1, false, out);
  }
  return out;
}

// The list that the document is about: its last one.
const Json* main_list(const Json& document) {
  const Json* found = nullptr;
  for (const auto& [key, item] : document.items()) {
    if (item.is_array()) found = &item;
  }
  return found;
}

std::string to_lines(const Json& document) {
  const Json* list = main_list(document);
  if (list == nullptr || text_of(document, "schema") == "stoker.dev/v1/status") {
    return document.dump() + "\n";
  }
  std::string out;
  for (const Json& item : *list) {
    if (const auto time = text_of(document, "time"); !time.empty()) {
      Json line{{"time", time}};
      line.update(item);
      out += line.dump() + "\n";
    } else {
      out += item.dump() + "\n";
    }
  }
  return out;
}

}  // namespace

Result<std::string> format_document(const std::string& document, DataFormat format) {
  const auto json = read_document(document);
  if (!json) return fail(json.error());
  switch (format) {
    case DataFormat::json: return json->dump(2) + "\n";
    case DataFormat::yaml: return to_yaml(*json);
    case DataFormat::jsonl: return to_lines(*json);
  }
  return fail(ErrorCode::internal, "no such format");
}

std::string error_message(const std::string& document) {
  const Json json = Json::parse(document, nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) {
    if (auto message = text_of(list_of(json, "error"), "message"); !message.empty()) return message;
  }
  const auto end = document.find_last_not_of(" \r\n");
  return document.substr(0, end + 1);
}

}  // namespace stoker::api
