#include "event/record_fields.h"

#include <cstdint>

#include "base/text.h"
#include "event/cursor.h"

namespace stoker::event {
namespace {

constexpr std::string_view blanks = " \t\r\n";

void add_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0U | code >> 6U);
    out += static_cast<char>(0x80U | (code & 0x3fU));
  } else {
    out += static_cast<char>(0xe0U | code >> 12U);
    out += static_cast<char>(0x80U | (code >> 6U & 0x3fU));
    out += static_cast<char>(0x80U | (code & 0x3fU));
  }
}

void add_escaped(Cursor& cursor, std::string& out) {
  constexpr std::size_t code_digits = 4;
  constexpr int hex = 16;
  const char c = cursor.rest().front();
  cursor.take(cursor.rest().substr(0, 1));
  switch (c) {
    case 'n': out += '\n'; return;
    case 't': out += '\t'; return;
    case 'r': out += '\r'; return;
    case 'b':
    case 'f': out += ' '; return;
    case 'u': break;
    default: out += c; return;
  }
  const auto word = cursor.rest().substr(0, code_digits);
  std::uint32_t code = 0;
  for (const char digit : word) {
    const int value = hex_digit(digit);
    if (value < 0) return;
    code = code * hex + static_cast<std::uint32_t>(value);
  }
  cursor.take(word);
  add_utf8(out, code);
}

// Behind the opening quote; as far as there is text.
std::string take_string(Cursor& cursor) {
  std::string out;
  while (!cursor.at_end()) {
    const auto plain = cursor.rest().substr(0, cursor.rest().find_first_of("\"\\"));
    out += plain;
    cursor.take(plain);
    if (cursor.at_end() || cursor.take("\"")) return out;
    cursor.take("\\");
    if (!cursor.at_end()) add_escaped(cursor, out);
  }
  return out;
}

// Behind "[": numbers of bytes, as journald writes what is no text.
std::string take_bytes(Cursor& cursor) {
  constexpr unsigned last_byte = 255;
  std::string out;
  while (!cursor.at_end() && !cursor.take("]")) {
    const auto byte = cursor.take_number<unsigned>();
    if (byte && *byte <= last_byte) out += static_cast<char>(*byte);
    if (cursor.take_of(", ").empty() && !byte) return out;
  }
  return out;
}

// Past an object or list within the record.
void skip_nested(Cursor& cursor) {
  int depth = 0;
  while (!cursor.at_end()) {
    cursor.take(cursor.rest().substr(0, cursor.rest().find_first_of("\"{}[]")));
    if (cursor.take("\"")) {
      take_string(cursor);
    } else if (cursor.take("{") || cursor.take("[")) {
      ++depth;
    } else if (cursor.take("}") || cursor.take("]")) {
      if (--depth <= 0) return;
    }
  }
}

}  // namespace

void each_json_field(std::string_view text,
                     const std::function<void(std::string_view, std::string_view)>& take) {
  Cursor cursor(text);
  if (!cursor.take("{")) return;
  while (true) {
    cursor.take_of(" \t\r\n,");
    if (!cursor.take("\"")) return;
    const std::string key = take_string(cursor);
    cursor.take_of(blanks);
    if (!cursor.take(":")) return;
    cursor.take_of(blanks);
    if (cursor.take("\"")) {
      take(key, take_string(cursor));
    } else if (cursor.rest().starts_with("[")) {
      Cursor list = cursor;
      list.take("[");
      take(key, take_bytes(list));
      skip_nested(cursor);
    } else if (cursor.rest().starts_with("{")) {
      skip_nested(cursor);
    } else {
      const auto word = cursor.rest().substr(0, cursor.rest().find_first_of(",} \t\r\n"));
      take(key, word);
      if (word.empty() || !cursor.take(word)) return;
    }
  }
}

void each_export_field(std::string_view text,
                       const std::function<void(std::string_view, std::string_view)>& take) {
  constexpr std::size_t length_bytes = 8;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (const auto equals = line.find('='); equals != std::string_view::npos) {
      take(line.substr(0, equals), line.substr(equals + 1));
      continue;
    }
    if (line.empty() || text.size() < length_bytes) continue;
    std::uint64_t length = 0;
    for (std::size_t n = length_bytes; n-- > 0;) {
      length = length << 8U | static_cast<unsigned char>(text[n]);
    }
    text.remove_prefix(length_bytes);
    const auto value = text.substr(0, length);
    take(line, value);
    text.remove_prefix(value.size());
    if (text.starts_with('\n')) text.remove_prefix(1);
  }
}

}  // namespace stoker::event
