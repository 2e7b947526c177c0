// NCCL analyzer: does a line have one of a few words? Nearly no line of a program's own output has, so this decides how fast
// such a log is read.
#pragma once

#include <bitset>
#include <span>
#include <string_view>

namespace stoker::nccl {

// A word, and where in it a pair of neighbouring letters begins that ordinary text seldom has.
struct TellingWord {
  std::string_view word;
  std::size_t pair;
};

class WordFilter {
 public:
  // `words` outlive the filter.
  explicit WordFilter(std::span<const TellingWord> words) : words_(words) {
    for (const auto& each : words) pairs_.set(pair_of(each.word.substr(each.pair)));
  }

  [[nodiscard]] bool finds(std::string_view text) const {
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
      if (pairs_.test(pair_of(text.substr(at))) && finds_at(text, at)) return true;
    }
    return false;
  }

 private:
  static std::size_t pair_of(std::string_view text) {
    return (std::size_t{static_cast<unsigned char>(text[0])} << 8U) |
           static_cast<unsigned char>(text[1]);
  }
  [[nodiscard]] bool finds_at(std::string_view text, std::size_t at) const {
    for (const auto& each : words_) {
      if (at >= each.pair && text.substr(at - each.pair).starts_with(each.word)) return true;
    }
    return false;
  }

  std::span<const TellingWord> words_;
  std::bitset<65536> pairs_;
};

}  // namespace stoker::nccl
