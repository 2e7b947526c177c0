#include "base/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace stoker {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_plain(char c) { return c >= ' ' && c < '\x7F' && c != '"' && c != '\\'; }

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_plain);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8_length(text, 0);
    if (length == 0)
      out += replacement;
    else if (length == 1)
      append_escaped(out, text.front());
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + '"';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  comma();
  text_ += json_quoted(name);
  text_ += ':';
  comma_due_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  return put(fmt::format("{}", number));
}

JsonWriter& JsonWriter::inapplicable(std::string_view name) {
  key(name).null();
  return member(std::string(name) + "_reason", "not_applicable");
}

JsonWriter& JsonWriter::member_or_null(std::string_view name, std::string_view text) {
  return text.empty() ? inapplicable(name) : member(name, text);
}

JsonWriter& JsonWriter::open(char bracket) {
  comma();
  text_ += bracket;
  comma_due_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  comma_due_ = true;
  return *this;
}

JsonWriter& JsonWriter::put(std::string_view json) {
  comma();
  text_ += json;
  comma_due_ = true;
  return *this;
}

void JsonWriter::comma() {
  if (comma_due_) text_ += ',';
}

}  // namespace stoker
