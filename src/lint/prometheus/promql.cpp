#include "lint/prometheus/promql.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace stoker::lint {
namespace {

constexpr int deepest = 64;
constexpr std::size_t longest = 1 << 16;

std::string lowered_word(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_aggregation(std::string_view word) {
  constexpr auto words = std::to_array<std::string_view>(
      {"sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "count_values", "bottomk",
       "topk", "quantile", "limitk", "limit_ratio"});
  return std::ranges::find(words, word) != words.end();
}

// From weakest to strongest; ^ binds to the right.
int strength_of(const PromToken& token) {
  struct Row {
    std::string_view word;
    int strength;
  };
  constexpr auto rows = std::to_array<Row>({{"or", 1},
                                            {"and", 2},
                                            {"unless", 2},
                                            {"==", 3},
                                            {"!=", 3},
                                            {"<=", 3},
                                            {"<", 3},
                                            {">=", 3},
                                            {">", 3},
                                            {"+", 4},
                                            {"-", 4},
                                            {"*", 5},
                                            {"/", 5},
                                            {"%", 5},
                                            {"atan2", 5},
                                            {"^", 6}});
  if (token.kind != PromToken::Kind::sign && token.kind != PromToken::Kind::word) return 0;
  const auto* row = std::ranges::find(rows, lowered_word(token.text), &Row::word);
  return row == rows.end() ? 0 : row->strength;
}

// Reads one expression; whatever does not fit sets `failed_`, after which nothing counts.
class PromParser {
 public:
  explicit PromParser(std::vector<PromToken> tokens) : tokens_(std::move(tokens)) {}

  std::optional<PromNode> read() {
    PromNode node = expression(1);
    if (failed_ || peek().kind != PromToken::Kind::end) return std::nullopt;
    return node;
  }

 private:
  [[nodiscard]] const PromToken& peek() const { return tokens_[at_]; }
  [[nodiscard]] bool sees(std::string_view sign) const {
    return peek().kind == PromToken::Kind::sign && peek().text == sign;
  }
  [[nodiscard]] bool sees_word(std::string_view word) const {
    return peek().kind == PromToken::Kind::word && lowered_word(peek().text) == word;
  }
  PromToken take() {
    if (peek().kind == PromToken::Kind::end || peek().kind == PromToken::Kind::bad) {
      failed_ = true;
      return peek();
    }
    return tokens_[at_++];
  }
  bool accept(std::string_view sign) {
    if (!sees(sign)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view sign) { failed_ = !accept(sign) || failed_; }

  PromNode expression(int least) {
    PromNode left;
    if (++depth_ > deepest) failed_ = true;
    if (failed_) return left;
    left = unary();
    while (!failed_ && strength_of(peek()) >= least) {
      const auto sign = take();
      const int strength = strength_of(sign);
      modifiers();
      PromNode node{.kind = PromNode::Kind::binary, .name = lowered_word(sign.text), .at = sign.at};
      PromNode right = expression(sign.text == "^" ? strength : strength + 1);
      node.below.push_back(std::move(left));
      node.below.push_back(std::move(right));
      left = std::move(node);
    }
    --depth_;
    return left;
  }

  // bool, on(..), ignoring(..), group_left(..), group_right(..)
  void modifiers() {
    if (sees_word("bool")) take();
    if (sees_word("on") || sees_word("ignoring")) {
      take();
      labels();
    }
    if (sees_word("group_left") || sees_word("group_right")) {
      take();
      if (sees("(")) labels();
    }
  }

  std::vector<std::string> labels() {
    std::vector<std::string> names;
    expect("(");
    while (!failed_ && !sees(")")) {
      names.push_back(take().text);
      if (!accept(",")) break;
    }
    expect(")");
    return names;
  }

  PromNode unary() {
    if (sees("-") || sees("+")) {
      const auto sign = take();
      if (++depth_ > deepest) failed_ = true;
      PromNode below = failed_ ? PromNode{} : unary();
      --depth_;
      if (sign.text == "+") return below;
      if (below.kind == PromNode::Kind::number) {
        below.number = -below.number;
        return below;
      }
      PromNode node{.kind = PromNode::Kind::negative, .name = "-", .at = sign.at};
      node.below.push_back(std::move(below));
      return node;
    }
    PromNode node = atom();
    behind(node);
    return node;
  }

  // [5m], [1h:1m], offset 5m, @ 1609746000, @ end()
  void behind(PromNode& node) {
    while (!failed_) {
      if (peek().kind == PromToken::Kind::range) {
        take();
        node.ranged = true;
      } else if (sees_word("offset")) {
        take();
        accept("-");
        take();
      } else if (accept("@")) {
        accept("-");
        const auto word = take();
        if (word.kind == PromToken::Kind::word) labels();
      } else {
        return;
      }
    }
  }

  PromNode atom() {
    if (accept("(")) {
      PromNode node = expression(1);
      expect(")");
      return node;
    }
    if (sees("{")) return selector({.kind = PromNode::Kind::selector, .at = peek().at});
    const auto first = take();
    PromNode node{.name = first.text, .at = first.at};
    if (first.kind == PromToken::Kind::number) {
      char* end = nullptr;
      node.number = std::strtod(first.text.c_str(), &end);
      failed_ = failed_ || *end != '\0';
      return node;
    }
    if (first.kind == PromToken::Kind::string) {
      node.kind = PromNode::Kind::string;
      return node;
    }
    if (first.kind != PromToken::Kind::word) {
      failed_ = true;
      return node;
    }
    return named(std::move(node));
  }

  PromNode named(PromNode node) {
    const auto word = lowered_word(node.name);
    const bool grouping = sees_word("by") || sees_word("without");
    if (is_aggregation(word) && (sees("(") || grouping)) {
      node.kind = PromNode::Kind::aggregate;
      node.name = word;
      group(node);
      arguments(node);
      group(node);
      return node;
    }
    if (sees("(")) {
      node.kind = PromNode::Kind::call;
      node.name = word;
      arguments(node);
      return node;
    }
    if (word == "nan" || word == "inf") return node;
    node.kind = PromNode::Kind::selector;
    return selector(std::move(node));
  }

  void group(PromNode& node) {
    if (!sees_word("by") && !sees_word("without")) return;
    node.without = lowered_word(take().text) == "without";
    node.by = labels();
  }

  void arguments(PromNode& node) {
    expect("(");
    while (!failed_ && !sees(")")) {
      node.below.push_back(expression(1));
      if (!accept(",")) break;
    }
    expect(")");
  }

  PromNode selector(PromNode node) {
    if (!accept("{")) return node;
    while (!failed_ && !sees("}")) {
      const auto label = take();
      if (label.kind == PromToken::Kind::string && (sees(",") || sees("}"))) {
        node.name = label.text;  // {"metric", ..}
      } else {
        const auto sign = take();
        const auto value = take();
        failed_ = failed_ || value.kind != PromToken::Kind::string;
        if (label.text == "__name__" && sign.text == "=") node.name = value.text;
        node.matchers.push_back({label.text, sign.text, value.text});
      }
      if (!accept(",")) break;
    }
    expect("}");
    return node;
  }

  std::vector<PromToken> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<PromNode> parse_promql(std::string_view expression) {
  if (expression.size() > longest) return std::nullopt;
  return PromParser(promql_tokens(expression)).read();
}

}  // namespace stoker::lint
