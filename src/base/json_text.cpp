#include "base/json_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/utf8.h"

namespace stoker {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  } else {
    out += c;
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      out += replacement;
      ++at;
      continue;
    }
    if (length == 1) {
      append_ascii(out, text[at]);
    } else {
      out += text.substr(at, length);
    }
    at += length;
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
