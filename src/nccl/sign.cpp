#include "nccl/sign.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "nccl/words.h"

namespace stoker::nccl {
namespace {

constexpr auto sign_table = std::to_array<Sign>({
#define SIGN(id, where, role, verdict, confidence, pattern, cause, next, source) \
  {#id,     Where::where, Role::role, Class::verdict, Confidence::confidence,    \
   pattern, cause,        next,       source},
#include "nccl/signs.def"
#undef SIGN
});

constexpr std::array<const char*, 20> class_words = {"healthy",
                                                     "missing-rank",
                                                     "dead-rank",
                                                     "collective-mismatch",
                                                     "ib-transport",
                                                     "roce-gid",
                                                     "wrong-interface",
                                                     "firewall-or-connect",
                                                     "version-mismatch",
                                                     "p2p-or-acs",
                                                     "nvls-or-fabricmanager",
                                                     "shm",
                                                     "oom",
                                                     "cuda-error-or-xid",
                                                     "topology",
                                                     "driver-or-container",
                                                     "limits",
                                                     "slow-work",
                                                     "user-code",
                                                     "unknown"};

// "A{B|C}D*E" as lists of words: {ABD, ACD}, {E}.
struct Pattern {
  std::string component;
  std::vector<std::vector<std::string>> parts;
};

std::vector<std::string> words_of(std::string_view part) {
  const auto open = part.find('{');
  const auto close = part.find('}');
  if (open == npos || close == npos) return {std::string(part)};
  std::vector<std::string> words;
  auto choice = part.substr(open + 1, close - open - 1);
  while (true) {
    const auto word = choice.substr(0, choice.find('|'));
    words.push_back(std::string(part.substr(0, open)).append(word).append(part.substr(close + 1)));
    if (word.size() == choice.size()) return words;
    choice.remove_prefix(word.size() + 1);
  }
}

Pattern compiled(std::string_view text) {
  Pattern pattern;
  if (text.starts_with('@')) {
    const auto blank = text.find(' ');
    pattern.component = text.substr(1, blank - 1);
    text.remove_prefix(blank + 1);
  }
  for (std::size_t at = 0; at < text.size();) {
    const auto star = std::min(text.find('*', at), text.size());
    pattern.parts.push_back(words_of(text.substr(at, star - at)));
    at = star + 1;
  }
  return pattern;
}

bool matches(std::string_view text, const Pattern& pattern, std::string_view component,
             bool anchored) {
  if (!contains(component, pattern.component)) return false;
  for (const auto& part : pattern.parts) {
    std::size_t first = npos;
    std::size_t end = npos;
    for (const auto& word : part) {
      const auto at = anchored ? (text.starts_with(word) ? 0 : npos) : text.find(word);
      if (at >= first) continue;
      first = at;
      end = at + word.size();
    }
    if (end == npos) return false;
    text.remove_prefix(end);
    anchored = false;
  }
  return true;
}

const std::vector<Pattern>& patterns() {
  static const auto all = [] {
    std::vector<Pattern> made;
    made.reserve(sign_table.size());
    for (const auto& sign : sign_table) made.push_back(compiled(sign.pattern));
    return made;
  }();
  return all;
}

}  // namespace

const char* to_string(Class value) { return class_words.at(static_cast<std::size_t>(value)); }

const char* to_string(Confidence value) {
  constexpr std::array<const char*, 4> words = {"unknown", "possible", "likely", "certain"};
  return words.at(static_cast<std::size_t>(value));
}

std::span<const Sign> signs() { return sign_table; }

bool shows(std::string_view text, std::string_view pattern, std::string_view component,
           bool anchored) {
  return matches(text, compiled(pattern), component, anchored);
}

const Sign* find_sign(Where where, std::string_view text, std::string_view component) {
  static const auto rows = [] {
    std::array<std::vector<std::size_t>, 5> by_place;
    for (std::size_t i = 0; i < sign_table.size(); ++i) {
      by_place.at(static_cast<std::size_t>(sign_table.at(i).where)).push_back(i);
    }
    return by_place;
  }();
  for (const auto i : rows.at(static_cast<std::size_t>(where))) {
    if (matches(text, patterns()[i], component, where == Where::line)) return &sign_table.at(i);
  }
  return nullptr;
}

}  // namespace stoker::nccl
