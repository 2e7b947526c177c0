// Of filter_rules.h: the way of a packet through the chains.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "fabric/filter_rules.h"

namespace stoker::fabric {
namespace {

constexpr unsigned deepest_jump = 16;  // NFT_JUMP_STACK_SIZE, include/net/netfilter/nf_tables.h

class FilterWalk {
 public:
  explicit FilterWalk(const FilterRules& rules) {
    for (const FilterChain& chain : rules.chains)
      chains_.emplace(std::tuple(chain.family, chain.table, chain.name), &chain);
  }

  // What drops the packet in a base chain for sure.
  std::optional<FilterDrop> through(const FilterChain& base) {
    could_accept_ = false;
    steps_ = 0;
    const End end = walk(base, deepest_jump);
    if (could_accept_ || end == End::accepted) return std::nullopt;
    FilterDrop drop{.chain = base.text(), .way = *base.way, .family = base.family};
    if (end == End::dropped) {
      drop.rule = dropper_;
      return drop;
    }
    if (!base.drops) return std::nullopt;
    return drop;
  }

 private:
  // `passed`: the chain is over, or may be, and the next rule is one of the caller's.
  enum class End : std::uint8_t { passed, accepted, dropped };

  End walk(const FilterChain& chain, unsigned depth) {
    bool surely_here = true;
    for (const FilterRule& rule : chain.rules) {
      if (rule.match == RuleMatch::no) continue;
      const bool surely = surely_here && rule.match == RuleMatch::yes;
      switch (rule.verdict) {
        case RuleVerdict::none: break;
        case RuleVerdict::accept:
          if (surely) return End::accepted;
          could_accept_ = true;
          break;
        case RuleVerdict::unknown: could_accept_ = true; break;
        case RuleVerdict::drop:
          if (!surely) break;  // others go on
          dropper_ = fmt::format("{}: {}", chain.text(), rule.text);
          return End::dropped;
        case RuleVerdict::back:
          if (surely) return End::passed;
          surely_here = false;
          break;
        case RuleVerdict::jump:
        case RuleVerdict::go_to: {
          const End end = follow(chain, rule, depth, surely);
          if (end != End::passed) return end;
          if (rule.verdict == RuleVerdict::jump) break;
          if (surely) return End::passed;
          surely_here = false;
          break;
        }
      }
    }
    return End::passed;
  }

  End follow(const FilterChain& chain, const FilterRule& rule, unsigned depth, bool surely) {
    const auto found = chains_.find({chain.family, chain.table, rule.target});
    if (found == chains_.end() || depth == 0 || steps_ >= most_steps) {
      could_accept_ = true;
      return End::passed;
    }
    ++steps_;
    const End end = walk(*found->second, depth - 1);
    if (surely) return end;
    if (end == End::accepted) could_accept_ = true;
    return End::passed;
  }

  // Chains that jump to each other twice are walked twice as often a level: enough is enough.
  static constexpr unsigned most_steps = 10'000;

  std::map<std::tuple<std::string, std::string, std::string>, const FilterChain*> chains_;
  bool could_accept_ = false;
  unsigned steps_ = 0;
  std::string dropper_;
};

}  // namespace

std::string FilterChain::text() const {
  return fmt::format("chain {} of table {} {}", name, family, table);
}

std::vector<FilterDrop> roce_drops(const FilterRules& rules) {
  std::vector<FilterDrop> drops;
  FilterWalk walk(rules);
  for (const FilterChain& chain : rules.chains) {
    if (!chain.way) continue;
    if (auto drop = walk.through(chain)) drops.push_back(std::move(*drop));
  }
  return drops;
}

std::vector<FilterDrop> rules_that_name_roce(const FilterRules& rules) {
  std::vector<FilterDrop> drops;
  for (const FilterChain& chain : rules.chains) {
    for (const FilterRule& rule : chain.rules) {
      if (!rule.names_port || rule.verdict != RuleVerdict::drop || rule.match == RuleMatch::no)
        continue;
      drops.push_back({.chain = chain.text(),
                       .rule = fmt::format("{}: {}", chain.text(), rule.text),
                       .way = chain.way.value_or(FilterWay::in),
                       .family = chain.family});
    }
  }
  return drops;
}

}  // namespace stoker::fabric
