#include "lint/prometheus/promql.h"

#include <gtest/gtest.h>

namespace stoker::lint {
namespace {

// The tree in brackets, "(> (avg:by[gpu] m{a=b}[]) 5)".
std::string tree(const PromNode& node) {
  using Kind = PromNode::Kind;
  std::string out;
  if (node.kind == Kind::number) {
    out = node.name.empty() ? "?" : std::to_string(static_cast<int>(node.number));
  } else if (node.kind == Kind::string) {
    out = '"' + node.name + '"';
  } else if (node.kind == Kind::selector) {
    out = node.name;
    for (const auto& matcher : node.matchers) {
      out += '{' + matcher.label + matcher.sign + matcher.value + '}';
    }
  } else {
    out = '(' + node.name;
    if (node.by) {
      out += node.without ? ":without[" : ":by[";
      for (const auto& label : *node.by) out += label + ' ';
      out += ']';
    }
    for (const auto& below : node.below) out += ' ' + tree(below);
    out += ')';
  }
  return out + (node.ranged ? "[]" : "");
}

std::string read(std::string_view text) {
  const auto node = parse_promql(text);
  return node ? tree(*node) : "no";
}

TEST(Promql, OperatorsBindAsPrometheusBindsThem) {
  EXPECT_EQ(read("a > 1 and b or c"), "(or (and (> a 1) b) c)");
  EXPECT_EQ(read("a / (a + b) * 100 > 90"), "(> (* (/ a (+ a b)) 100) 90)");
  EXPECT_EQ(read("-a ^ 2 ^ 3"), "(^ (- a) (^ 2 3))");
  EXPECT_EQ(read("a - -1"), "(- a -1)");
}

TEST(Promql, SelectorsCallsAndAggregationsAreToldApart) {
  EXPECT_EQ(read(R"(m{a="b",c!~'d.*'}[5m] offset 1h)"), "m{a=b}{c!~d.*}[]");
  EXPECT_EQ(read("sum by (gpu, Hostname) (rate(m[5m]))"), "(sum:by[gpu Hostname ] (rate m[]))");
  EXPECT_EQ(read("sum(m) without (pod)"), "(sum:without[pod ] m)");
  EXPECT_EQ(read("a * on(gpu) group_left(pod) b"), "(* a b)");
  EXPECT_EQ(read("max_over_time(m[1h:5m]) > bool 1"), "(> (max_over_time m[]) 1)");
  EXPECT_EQ(read("topk(3, m) @ end()"), "(topk 3 m)");
  EXPECT_EQ(read("{__name__=\"m\", x=\"y\"}"), "m{__name__=m}{x=y}");
  EXPECT_EQ(read("m # comment\n > 0x10"), "(> m 16)");
  EXPECT_EQ(read("count"), "count") << "a metric may have that name";
  EXPECT_EQ(read("absent(up{job=\"dcgm\"} == 1)"), "(absent (== up{job=dcgm} 1))");
}

TEST(Promql, WhatItCannotReadIsNotGuessed) {
  for (const auto* text : {"", "a >", "sum(", "a{b=c}", "a b", "a $ b", "m[5m", "\"open", "{{ x }}",
                           "a > {{ .Values.limit }}", ")", "rate(m[5m]"}) {
    EXPECT_EQ(read(text), "no") << text;
  }
  EXPECT_EQ(read(std::string(10'000, '(')), "no");
  EXPECT_EQ(read(std::string(10'000, '-')), "no");
}

TEST(Promql, NodesKnowWhereTheyStand) {
  const auto node = parse_promql("  m > 5");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->at, 4U);
  EXPECT_EQ(node->below[0].at, 2U);
}

}  // namespace
}  // namespace stoker::lint
