#include "model/wrap.h"

#include <algorithm>

namespace stoker {
namespace {

void wrap_line(std::string_view text, std::size_t width, std::vector<std::string>& out) {
  std::string line;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text = blank == std::string_view::npos ? "" : text.substr(blank + 1);
    if (!line.empty() && columns(line) + 1 + columns(word) > width) {
      out.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  out.push_back(std::move(line));
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
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

}  // namespace stoker
