// Analyzer stage: PromQL as a tree, as far as linting needs it (prometheus.io/docs/prometheus/latest/querying/basics and
// operators). Types are not checked and nothing is evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::lint {

struct PromToken {
  enum class Kind : std::uint8_t { word, number, string, sign, range, bad, end };
  Kind kind = Kind::end;
  std::string
      text;  // of a string what stands between its quotes, of a range what stands between [ and ]
  std::size_t at = 0;  // bytes from the beginning of the expression
};

// Ends with a token `end`, or with `bad` where it can't go on.
std::vector<PromToken> promql_tokens(std::string_view expression);

struct PromMatcher {
  std::string label;
  std::string sign;  // =, !=, =~, !~
  std::string value;
};

struct PromNode {
  enum class Kind : std::uint8_t { number, string, selector, call, aggregate, binary, negative };
  Kind kind = Kind::number;
  std::string
      name;  // metric, function, aggregation or operator in lower case; a metric as it stands
  std::size_t at = 0;
  double number = 0;
  std::vector<PromMatcher> matchers;           // of a selector
  bool ranged = false;                         // [5m], of a selector or a subquery
  std::vector<PromNode> below;                 // arguments; left and right
  std::optional<std::vector<std::string>> by;  // of an aggregate
  bool without = false;                        // the labels of `by` are those that go
};

// nullopt: it is not PromQL, or more than this reads; nesting beyond 64, and expressions beyond 64 KiB.
std::optional<PromNode> parse_promql(std::string_view expression);

}  // namespace stoker::lint
