// Of filter_rules.h: the kernel's rules as nft(8) prints them for programs, libnftables-json(5).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "fabric/filter_rules.h"

namespace stoker::fabric {
namespace {

using NftJson = nlohmann::json;
// Named sets ("@ports") by family, table and name: their elements.
using NftSets = std::map<std::tuple<std::string, std::string, std::string>, const NftJson*>;

RuleMatch both(RuleMatch one, RuleMatch other) { return std::min(one, other); }

RuleMatch inverted(RuleMatch match) {
  if (match == RuleMatch::maybe) return match;
  return match == RuleMatch::yes ? RuleMatch::no : RuleMatch::yes;
}

RuleMatch known(bool matches) { return matches ? RuleMatch::yes : RuleMatch::no; }

std::string text_at(const NftJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Of the statement {"accept": null}: "accept".
std::string only_key(const NftJson& statement) {
  return statement.is_object() && statement.size() == 1 ? statement.begin().key() : std::string();
}

// Of the whole text, what its rules are read with.
struct NftContext {
  NftSets sets;
  bool redirects =
      false;  // some rule sends packets elsewhere, so that one may have come from elsewhere
};

class NftRule {
 public:
  NftRule(const NftJson& rule, const NftContext& context)
      : context_(context), family_(text_at(rule, "family")), table_(text_at(rule, "table")) {
    if (const auto statements = rule.find("expr"); statements != rule.end()) {
      for (const NftJson& statement : *statements) take(statement);
    }
  }

  FilterRule rule() && { return std::move(out_); }

 private:
  void take(const NftJson& statement) {
    const auto key = only_key(statement);
    if (key.empty()) return verdict(RuleVerdict::unknown, "?");
    const NftJson& value = statement.begin().value();
    if (key == "match") return take_match(value);
    if (key == "accept") return verdict(RuleVerdict::accept, key);
    if (key == "drop" || key == "reject") return verdict(RuleVerdict::drop, key);
    if (key == "return") return verdict(RuleVerdict::back, key);
    if (key == "jump" || key == "goto") {
      out_.target = value.is_object() ? text_at(value, "target") : std::string();
      return verdict(key == "jump" ? RuleVerdict::jump : RuleVerdict::go_to,
                     fmt::format("{} {}", key, out_.target));
    }
    if (key == "xt") return take_xt(value);
    if (key == "vmap") return take_map(value);
    if (key == "limit" || key == "quota" || key == "ct count") return say_maybe(key);
    constexpr std::array<std::string_view, 11> goes_on = {
        "counter", "log",       "mangle",     "notrack", "last",   "dup",
        "flow",    "ct helper", "ct timeout", "set",     "secmark"};
    if (std::ranges::find(goes_on, key) == goes_on.end()) return verdict(RuleVerdict::unknown, key);
  }

  void verdict(RuleVerdict is, std::string_view words) {
    out_.verdict = is;
    say(words);
  }
  void say(std::string_view words) {
    constexpr std::size_t longest = 200;
    if (out_.text.size() > longest) return;
    if (!out_.text.empty()) out_.text += ' ';
    out_.text += words;
  }
  void say_maybe(std::string_view words) {
    out_.match = both(out_.match, RuleMatch::maybe);
    say(words);
  }

  // What iptables-nft could not say in nft's own words: {"type": "target", "name": "REJECT"}; null of old versions, which
  // may be a match as well as a verdict.
  void take_xt(const NftJson& value) {
    const auto name = value.is_object() ? text_at(value, "name") : std::string();
    if (name.empty()) {
      say_maybe("xt");
      return verdict(RuleVerdict::unknown, "?");
    }
    if (text_at(value, "type") == "match") {
      if (name != "comment") say_maybe(fmt::format("xt {}", name));
      return;
    }
    constexpr std::array<std::string_view, 6> goes_on = {"LOG",      "NFLOG", "MARK",
                                                         "CONNMARK", "CT",    "CHECKSUM"};
    if (std::ranges::find(goes_on, name) != goes_on.end()) return;
    verdict(name == "REJECT" || name == "DROP" ? RuleVerdict::drop : RuleVerdict::unknown,
            fmt::format("xt {}", name));
  }

  void take_match(const NftJson& match) {
    const auto op = text_at(match, "op");
    const auto left = match.find("left");
    const auto right = match.find("right");
    if (!match.is_object() || left == match.end() || right == match.end()) return say_maybe("?");
    say(fmt::format("{} {} {}", words_of(*left), op, value_words(*right)));
    auto matched = RuleMatch::maybe;
    if (op == "==" || op == "in" || op == "!=") {
      matched = equals(*left, *right);
      if (op == "!=") matched = inverted(matched);
    }
    out_.match = both(out_.match, matched);
    if (is_port(*left) && op != "!=" && holds_port(*right) == RuleMatch::yes)
      out_.names_port = true;
  }

  // {"key": …, "data": {"set": [[value, {"accept": null}], …]}}: one that has nothing for our packet is passed over.
  void take_map(const NftJson& map) {
    const auto key = map.is_object() ? map.find("key") : map.end();
    const auto data = map.is_object() ? map.find("data") : map.end();
    const bool whole = map.is_object() && key != map.end() && data != map.end();
    const bool none =
        whole && data->is_object() && !any_of(*data, [&](const NftJson& pair) {
          return !pair.is_array() || pair.size() != 2 || equals(*key, pair[0]) != RuleMatch::no;
        });
    if (!none) verdict(RuleVerdict::unknown, "vmap");
  }

  static std::string value_words(const NftJson& value) {
    constexpr std::size_t most_shown = 16;
    const auto set = value.is_object() ? value.find("set") : value.end();
    const NftJson& shown = value.is_object() && set != value.end() ? *set : value;
    if (shown.is_string()) return shown.get<std::string>();
    if (shown.size() > most_shown) return fmt::format("{{{} values}}", shown.size());
    return shown.dump(-1, ' ', false, NftJson::error_handler_t::replace);
  }

  static std::string words_of(const NftJson& left) {
    auto kind = only_key(left);
    if (kind.empty()) return "?";
    const NftJson& value = left.begin().value();
    if (!value.is_object()) return kind;
    if (kind == "payload")
      return fmt::format("{} {}", text_at(value, "protocol"), text_at(value, "field"));
    return fmt::format("{} {}", kind, text_at(value, "key"));
  }

  static bool is_port(const NftJson& left) {
    const auto words = words_of(left);
    return words == "udp dport" || words == "th dport";
  }

  // A packet of UDP to 4791, from anybody, on any device but lo, that belongs to no connection known.
  RuleMatch equals(const NftJson& left, const NftJson& right) const {
    const auto words = words_of(left);
    if (is_port(left)) return holds_port(right);
    if (words.starts_with("tcp ") || words.starts_with("sctp ") || words.starts_with("icmp") ||
        words.starts_with("dccp ")) {
      return RuleMatch::no;
    }
    if (words == "ip protocol" || words == "ip6 nexthdr" || words == "meta l4proto")
      return holds(right, "udp", 17);
    if (words == "meta iifname" || words == "meta oifname" || words == "meta iif" ||
        words == "meta oif") {
      return right == "lo" ? RuleMatch::no : RuleMatch::maybe;
    }
    // Each of the two ways of a RoCE connection has 4791 as its destination and another source port, so to conntrack no
    // packet answers one of the other way: only what accepts new connections accepts it.
    if (words == "ct state") {
      const bool fresh = any_of(right, [](const NftJson& state) {
        return state == "new" || state == "untracked" || !state.is_string();
      });
      return fresh ? RuleMatch::maybe : RuleMatch::no;
    }
    if (words == "ct status" && right == "dnat" && !context_.redirects) return RuleMatch::no;
    return RuleMatch::maybe;
  }

  template <typename Test>
  static bool any_of(const NftJson& right, Test test) {
    if (right.is_array()) return std::ranges::any_of(right, test);
    if (const auto set = right.is_object() ? right.find("set") : right.end();
        set != right.end() && set->is_array()) {
      return std::ranges::any_of(*set, test);
    }
    return test(right);
  }

  // Is the value, or one of the set's, `name` or `number`? Maybe, where it is of an unknown kind.
  static RuleMatch holds(const NftJson& right, std::string_view name, unsigned number) {
    const bool is = any_of(right, [&](const NftJson& one) {
      return (one.is_string() && one.get<std::string>() == name) ||
             (one.is_number_unsigned() && one.get<std::uint64_t>() == number);
    });
    if (is) return RuleMatch::yes;
    const bool strange = any_of(
        right, [](const NftJson& one) { return !one.is_string() && !one.is_number_unsigned(); });
    return strange ? RuleMatch::maybe : RuleMatch::no;
  }

  RuleMatch holds_port(const NftJson& right) const {
    if (right.is_string()) return in_named_set(right.get<std::string>());
    bool strange = false;
    const bool is = any_of(right, [&](const NftJson& one) {
      const RuleMatch in = port_in(one);
      strange = strange || in == RuleMatch::maybe;
      return in == RuleMatch::yes;
    });
    if (is) return RuleMatch::yes;
    return strange ? RuleMatch::maybe : RuleMatch::no;
  }

  // 4791, {"range": [4000, 5000]}, {"elem": {"val": 4791, …}}; a service's name is not looked up.
  static RuleMatch port_in(const NftJson& one) {
    if (one.is_number_unsigned()) return known(one.get<std::uint64_t>() == roce_port);
    const auto key = only_key(one);
    if (key == "range") {
      const NftJson& ends = one.begin().value();
      const bool whole = ends.is_array() && ends.size() == 2 && ends[0].is_number_unsigned() &&
                         ends[1].is_number_unsigned();
      if (!whole) return RuleMatch::maybe;
      return known(ends[0].get<std::uint64_t>() <= roce_port &&
                   roce_port <= ends[1].get<std::uint64_t>());
    }
    if (key == "elem") {
      const NftJson& elem = one.begin().value();
      const auto value = elem.is_object() ? elem.find("val") : elem.end();
      // It may time out.
      return value != elem.end() && value->is_number_unsigned() &&
                     value->get<std::uint64_t>() != roce_port
                 ? RuleMatch::no
                 : RuleMatch::maybe;
    }
    return RuleMatch::maybe;
  }

  // "@ports"; a name of a service is none that we know.
  [[nodiscard]] RuleMatch in_named_set(const std::string& name) const {
    if (!name.starts_with('@')) return RuleMatch::maybe;
    const auto set = context_.sets.find({family_, table_, name.substr(1)});
    if (set == context_.sets.end() || !set->second->is_array()) return RuleMatch::maybe;
    auto match = RuleMatch::no;
    for (const NftJson& one : *set->second) match = std::max(match, port_in(one));
    return match;
  }

  const NftContext& context_;
  const std::string family_;
  const std::string table_;
  FilterRule out_;
};

// Chains of other types than filter (nat, route) see only some packets.
std::optional<FilterWay> way_of(const NftJson& chain) {
  if (text_at(chain, "type") != "filter") return std::nullopt;
  const auto hook = text_at(chain, "hook");
  const auto family = text_at(chain, "family");
  if (family == "bridge" || family == "arp" || family == "netdev") return std::nullopt;
  if (hook == "input" || hook == "prerouting") return FilterWay::in;
  if (hook == "output" || hook == "postrouting") return FilterWay::out;
  return std::nullopt;
}

using ChainKey = std::tuple<std::string, std::string, std::string>;

void take_chain(const NftJson& value, std::map<ChainKey, std::size_t>& places, FilterRules& out) {
  ChainKey key(text_at(value, "family"), text_at(value, "table"), text_at(value, "name"));
  out.chains.push_back({.family = std::get<0>(key),
                        .table = std::get<1>(key),
                        .name = std::get<2>(key),
                        .way = way_of(value),
                        .drops = text_at(value, "policy") == "drop"});
  places.emplace(std::move(key), out.chains.size() - 1);
}

NftSets named_sets(const NftJson& objects) {
  NftSets sets;
  for (const NftJson& object : objects) {
    if (only_key(object) != "set") continue;
    const NftJson& set = object.begin().value();
    if (!set.is_object()) continue;
    // What rules add while packets pass, or what times out, is there at one time and not at another.
    const auto flags = set.find("flags");
    const std::string words = flags == set.end() ? std::string() : flags->dump();
    if (words.find("dynamic") != std::string::npos || words.find("timeout") != std::string::npos)
      continue;
    static const NftJson none = NftJson::array();
    const auto elements = set.find("elem");
    sets[{text_at(set, "family"), text_at(set, "table"), text_at(set, "name")}] =
        elements == set.end() ? &none : &*elements;
  }
  return sets;
}

}  // namespace

Result<FilterRules> read_nft_rules(std::string_view json) {
  const auto document = NftJson::parse(json.begin(), json.end(), nullptr, false);
  const auto objects = document.is_object() ? document.find("nftables") : document.end();
  if (!document.is_object() || objects == document.end() || !objects->is_array())
    return fail(ErrorCode::corrupt, "that is not what `nft -j list ruleset` prints");
  NftContext context{.sets = named_sets(*objects)};
  for (const std::string_view word : {"\"dnat\":", "\"redirect\":", "DNAT", "REDIRECT"})
    context.redirects = context.redirects || json.find(word) != std::string_view::npos;
  FilterRules out;
  std::map<ChainKey, std::size_t> places;
  for (const NftJson& object : *objects) {
    if (only_key(object) == "chain" && object.begin()->is_object())
      take_chain(*object.begin(), places, out);
  }
  for (const NftJson& object : *objects) {
    if (only_key(object) != "rule" || !object.begin()->is_object()) continue;
    const NftJson& rule = *object.begin();
    const auto place =
        places.find({text_at(rule, "family"), text_at(rule, "table"), text_at(rule, "chain")});
    if (place != places.end())
      out.chains[place->second].rules.push_back(NftRule(rule, context).rule());
  }
  return out;
}

}  // namespace stoker::fabric
