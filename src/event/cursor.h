// Event stage: takes a line apart from its front. What does not match is left where it was.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stoker::event {

constexpr std::string_view digits = "0123456789";

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view rest() const { return text_; }
  [[nodiscard]] bool at_end() const { return text_.empty(); }

  bool take(std::string_view literal) {
    if (!text_.starts_with(literal)) return false;
    text_.remove_prefix(literal.size());
    return true;
  }
  // Everything before `end`, and `end`; nullopt where there is no `end`.
  std::optional<std::string_view> take_until(std::string_view end) {
    const auto at = text_.find(end);
    if (at == std::string_view::npos) return std::nullopt;
    const auto taken = text_.substr(0, at);
    text_.remove_prefix(at + end.size());
    return taken;
  }
  // The characters up to the first that is not one of `set`.
  std::string_view take_of(std::string_view set) {
    const auto taken = text_.substr(0, text_.find_first_not_of(set));
    text_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view skip_blanks() { return take_of(" "); }

  template <typename T>
  std::optional<T> take_number(int base = 10) {
    T number = 0;
    const auto [end, code] =
        std::from_chars(text_.data(), text_.data() + text_.size(), number, base);
    if (code != std::errc{}) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return number;
  }

 private:
  std::string_view text_;
};

// What stands in `text` directly behind `mark`.
inline std::optional<Cursor> behind(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return Cursor(text.substr(at + mark.size()));
}

template <typename T>
std::optional<T> number_behind(std::string_view text, std::string_view mark, int base = 10) {
  auto cursor = behind(text, mark);
  return cursor ? cursor->take_number<T>(base) : std::nullopt;
}

}  // namespace stoker::event
