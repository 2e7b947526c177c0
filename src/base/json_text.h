// Ground stage: JSON as text, written front to back. The one way in which Stoker writes JSON, so that
// keys keep the order in which their writer put them. Our documents are read by src/api alone, a log's records by
// src/event/record_fields.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

// "text" with quotes and escapes; bytes that are no UTF-8 become U+FFFD, so that a process name can
// never break a document.
std::string json_quoted(std::string_view text);

// Compact, no blanks. Calls have to nest as JSON does: a key before every value inside an object.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text) { return put(json_quoted(text)); }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag) { return put(flag ? "true" : "false"); }
  JsonWriter& value(double number);  // shortest that reads back the same; null for NaN and infinity
  template <std::integral T>
  JsonWriter& value(T number) {
    return put(std::to_string(number));
  }
  JsonWriter& null() { return put("null"); }

  template <typename T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  // What this object has none of: null beside "<name>_reason": "not_applicable".
  JsonWriter& inapplicable(std::string_view name);
  // inapplicable() for an empty text.
  JsonWriter& member_or_null(std::string_view name, std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& put(std::string_view json);
  void comma();

  std::string text_;
  bool comma_due_ = false;
};

}  // namespace stoker
