// Of filter_rules.h: the rules of the old iptables, as iptables-save(8) prints them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "fabric/filter_rules.h"

namespace stoker::fabric {
namespace {

// Words, of which those in quotation marks are one.
std::vector<std::string> words_in(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  bool any = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == '\\' && quoted && i + 1 < line.size()) {
      word += line[++i];
    } else if (c == ' ' && !quoted) {
      if (any || !word.empty()) words.push_back(std::exchange(word, {}));
      any = false;
    } else {
      word += c;
    }
  }
  if (any || !word.empty()) words.push_back(std::move(word));
  return words;
}

// "4791", "4000:5000", and lists of them with commas.
RuleMatch saved_ports(std::string_view list) {
  while (!list.empty()) {
    const auto one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const auto colon = one.find(':');
    const auto from = whole_number<unsigned>(one.substr(0, colon));
    const auto to =
        colon == std::string_view::npos ? from : whole_number<unsigned>(one.substr(colon + 1));
    if (!from || !to) return RuleMatch::maybe;
    if (*from <= roce_port && roce_port <= *to) return RuleMatch::yes;
  }
  return RuleMatch::no;
}

// As in filter_nft.cpp: only what accepts new connections accepts RoCE.
RuleMatch saved_states(std::string_view list) {
  const bool fresh = list.find("NEW") != std::string_view::npos ||
                     list.find("UNTRACKED") != std::string_view::npos;
  return fresh ? RuleMatch::maybe : RuleMatch::no;
}

class SavedRule {
 public:
  // After "-A CHAIN".
  explicit SavedRule(const std::vector<std::string>& words) {
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "!") {
        inverted_ = true;
        continue;
      }
      const std::string_view value = i + 1 < words.size() ? words[i + 1] : std::string_view();
      if (take(words[i], value)) ++i;
      inverted_ = false;
    }
    constexpr std::size_t longest = 200;
    for (std::size_t i = 2; i < words.size() && out_.text.size() < longest; ++i) {
      if (i > 2) out_.text += ' ';
      out_.text += words[i];
    }
  }

  FilterRule rule() && { return std::move(out_); }

 private:
  // False: the option has no value. Those that are not known may ask anything.
  bool take(std::string_view option, std::string_view value) {
    if (option == "-p")
      return asks(value == "udp" || value == "17" || value == "all" ? RuleMatch::yes
                                                                    : RuleMatch::no);
    if (option == "--dport" || option == "--dports") {
      const auto match = saved_ports(value);
      if (match == RuleMatch::yes && !inverted_) out_.names_port = true;
      return asks(match);
    }
    if (option == "--ctstate" || option == "--state") return asks(saved_states(value));
    if (option == "-i" || option == "-o")
      return asks(value == "lo" ? RuleMatch::no : RuleMatch::maybe);
    if (option == "-m") return true;  // what it asks follows
    if (option == "--comment") return true;
    if (option == "-j" || option == "-g") return decides(option, value);
    if (option.starts_with("--reject") || option.starts_with("--log") ||
        option.starts_with("--nflog") || option.starts_with("--set")) {
      return true;
    }
    asks(RuleMatch::maybe);
    return !value.starts_with('-') && value != "!";
  }

  bool asks(RuleMatch match) {
    if (inverted_ && match != RuleMatch::maybe)
      match = match == RuleMatch::yes ? RuleMatch::no : RuleMatch::yes;
    out_.match = std::min(out_.match, match);
    return true;
  }

  bool decides(std::string_view option, std::string_view target) {
    constexpr std::array<std::string_view, 9> goes_on = {
        "LOG", "NFLOG", "MARK", "CONNMARK", "CT", "CHECKSUM", "TCPMSS", "DSCP", "TOS"};
    constexpr std::array<std::string_view, 9> others = {
        "QUEUE", "NFQUEUE", "TPROXY", "DNAT", "SNAT", "REDIRECT", "MASQUERADE", "TEE", "SET"};
    if (target == "ACCEPT") {
      out_.verdict = RuleVerdict::accept;
    } else if (target == "DROP" || target == "REJECT") {
      out_.verdict = RuleVerdict::drop;
    } else if (target == "RETURN") {
      out_.verdict = RuleVerdict::back;
    } else if (std::ranges::find(goes_on, target) != goes_on.end()) {
      out_.verdict = RuleVerdict::none;
    } else if (std::ranges::find(others, target) != others.end()) {
      out_.verdict = RuleVerdict::unknown;
    } else {
      // A chain of the user's; a target that we don't know is none, and then unknown (filter_walk.cpp).
      out_.verdict = option == "-j" ? RuleVerdict::jump : RuleVerdict::go_to;
      out_.target = target;
    }
    return true;
  }

  bool inverted_ = false;
  FilterRule out_;
};

std::optional<FilterWay> saved_way(std::string_view table, std::string_view chain) {
  if (table == "nat") return std::nullopt;
  if (chain == "INPUT" || chain == "PREROUTING") return FilterWay::in;
  if (chain == "OUTPUT" || chain == "POSTROUTING") return FilterWay::out;
  return std::nullopt;
}

}  // namespace

FilterRules read_saved_rules(std::string_view text) {
  FilterRules out;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::string table;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end), " \r");
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.starts_with('*')) {
      table = line.substr(1);
    } else if (line.starts_with(':')) {
      const auto words = words_in(line.substr(1));
      if (words.size() < 2) continue;
      out.chains.push_back({.family = "ip",
                            .table = table,
                            .name = words[0],
                            .way = words[1] == "-" ? std::nullopt : saved_way(table, words[0]),
                            .drops = words[1] == "DROP"});
      places.emplace(std::pair(table, words[0]), out.chains.size() - 1);
    } else if (line.starts_with("-A ")) {
      const auto words = words_in(line);
      const auto place = words.size() < 2 ? places.end() : places.find({table, words[1]});
      if (place != places.end()) out.chains[place->second].rules.push_back(SavedRule(words).rule());
    }
  }
  return out;
}

}  // namespace stoker::fabric
