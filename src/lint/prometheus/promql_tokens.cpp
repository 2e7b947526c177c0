#include <algorithm>
#include <array>
#include <cctype>

#include "lint/prometheus/promql.h"

namespace stoker::lint {
namespace {

bool begins_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}
bool goes_on_word(char c) {
  return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class PromLexer {
 public:
  explicit PromLexer(std::string_view text) : text_(text) {}

  std::vector<PromToken> read() {
    while (true) {
      skip();
      if (at_ >= text_.size()) break;
      tokens_.push_back(next());
      if (tokens_.back().kind == PromToken::Kind::bad) return std::move(tokens_);
    }
    tokens_.push_back({PromToken::Kind::end, "", text_.size()});
    return std::move(tokens_);
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  PromToken token(PromToken::Kind kind, std::size_t end) {
    PromToken out{kind, std::string(text_.substr(at_, end - at_)), at_};
    at_ = end;
    return out;
  }

  PromToken next() {
    const char c = text_[at_];
    if (begins_word(c)) {
      auto end = at_;
      while (end < text_.size() && goes_on_word(text_[end])) ++end;
      return token(PromToken::Kind::word, end);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    if (c == '"' || c == '\'' || c == '`') return string(c);
    if (c == '[') return range();
    constexpr auto two = std::to_array<std::string_view>({"==", "!=", "<=", ">=", "=~", "!~"});
    const auto pair = text_.substr(at_, 2);
    if (std::ranges::find(two, pair) != two.end()) return token(PromToken::Kind::sign, at_ + 2);
    if (std::string_view("(){},+-*/%^<>=@").find(c) != std::string_view::npos) {
      return token(PromToken::Kind::sign, at_ + 1);
    }
    return token(PromToken::Kind::bad, at_ + 1);
  }

  // 0.5, 1e9, 0x1F, and durations such as 5m, which stand behind `offset`.
  PromToken number() {
    auto end = at_;
    while (end < text_.size()) {
      const char c = text_[end];
      const bool sign =
          (c == '+' || c == '-') && end > at_ && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
      if (!sign && c != '.' && !goes_on_word(c)) break;
      ++end;
    }
    return token(PromToken::Kind::number, end);
  }

  PromToken string(char quote) {
    PromToken out{PromToken::Kind::string, "", at_++};
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && quote != '`' && at_ + 1 < text_.size()) ++at_;
      out.text += text_[at_++];
    }
    if (at_ >= text_.size()) out.kind = PromToken::Kind::bad;
    ++at_;
    return out;
  }

  PromToken range() {
    const auto close = text_.find(']', at_);
    if (close == std::string_view::npos) return token(PromToken::Kind::bad, text_.size());
    PromToken out{PromToken::Kind::range, std::string(text_.substr(at_ + 1, close - at_ - 1)), at_};
    at_ = close + 1;
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<PromToken> tokens_;
};

}  // namespace

std::vector<PromToken> promql_tokens(std::string_view expression) {
  return PromLexer(expression).read();
}

}  // namespace stoker::lint
