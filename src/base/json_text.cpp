#include "base/json_text.h"

#include <fmt/format.h>

#include <cmath>

namespace stoker {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Bytes of the UTF-8 character that begins at `at`; 0 if there is none (RFC 3629 section 4).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const auto second = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) return continues(text, at + 1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    const bool overlong = first == 0xE0U && second < 0xA0U;
    const bool surrogate = first == 0xEDU && second > 0x9FU;
    return !overlong && !surrogate && continues(text, at + 1) && continues(text, at + 2) ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const bool overlong = first == 0xF0U && second < 0x90U;
    const bool too_large = first == 0xF4U && second > 0x8FU;
    return !overlong && !too_large && continues(text, at + 1) && continues(text, at + 2) &&
                   continues(text, at + 3)
               ? 4
               : 0;
  }
  return 0;
}

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

JsonWriter& JsonWriter::member_or_null(std::string_view name, std::string_view text) {
  key(name);
  return text.empty() ? null() : value(text);
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
