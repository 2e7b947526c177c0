#include "model/wrap.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker {
namespace {

void wrap_line(std::string_view text, std::size_t width, std::vector<std::string>& out) {
  std::string line;
  std::size_t used = 0;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text = blank == std::string_view::npos ? "" : text.substr(blank + 1);
    const auto wide = columns(word);
    if (!line.empty() && used + 1 + wide > width) {
      out.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    used = line.empty() ? wide : used + 1 + wide;
    line += word;
  }
  out.push_back(std::move(line));
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// The byte at which the character number `n` of UTF-8 `text` begins.
std::size_t byte_of(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!begins_character(text[at])) continue;
    if (n-- == 0) break;
  }
  return at;
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut_end(std::string_view text, std::size_t width, std::string_view mark) {
  if (columns(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(text.substr(0, byte_of(text, width - 1))) + std::string(mark);
}

std::string cut_front(std::string_view text, std::size_t width, std::string_view mark) {
  const std::size_t wide = columns(text);
  if (wide <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(mark) + std::string(text.substr(byte_of(text, wide - width + 1)));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> out;
  for (;;) {
    const auto end = text.find('\n');
    wrap_line(text.substr(0, end), width, out);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string pad(std::string_view text, std::size_t width) {
  std::string out(text);
  const std::size_t taken = columns(text);
  if (taken < width) out.append(width - taken, ' ');
  return out;
}

void append_labelled(std::string& out, std::string_view label, std::string_view text,
                     std::size_t width, std::size_t indent) {
  auto head = fmt::format("  {}", label);
  for (const auto& line : wrap(text, width > indent ? width - indent : 1)) {
    out += fmt::format("{}{}\n", pad(head, indent), line);
    head.clear();
  }
}

std::string printable(std::string text, bool keep_breaks) {
  constexpr unsigned char c1_lead = 0xC2;  // U+0080 to U+009F are 0xC2 and 0x80 to 0x9F
  unsigned char before = 0;
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_c1 = before == c1_lead && byte >= 0x80 && byte < 0xA0;
    before = byte;
    if (keep_breaks && c == '\n') continue;
    // What is left of the two bytes is one character: its lead with a sign that no terminal obeys.
    if (is_c1) c = static_cast<char>(0xA0);
    if (byte < ' ' || byte == 127) c = ' ';
  }
  return text;
}

}  // namespace stoker
