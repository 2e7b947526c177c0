#include "base/closest.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace stoker {
namespace {

bool begins_with(std::string_view name, std::string_view word) {
  return !word.empty() && name.substr(0, word.size()) == word;
}

// How many letters of `name` a hand gets wrong.
std::size_t slip(std::string_view name) { return 1 + name.size() / 4; }

}  // namespace

// Levenshtein's distance, in O(a b) time and O(b) memory. A common beginning and end need no looking at.
std::size_t letters_apart(std::string_view a, std::string_view b) {
  const auto beginning = std::ranges::mismatch(a, b).in1 - a.begin();
  a.remove_prefix(static_cast<std::size_t>(beginning));
  b.remove_prefix(static_cast<std::size_t>(beginning));
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t swapped = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({swapped, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::vector<std::string> closest_first(std::string_view word, std::vector<std::string> names) {
  struct Ranked {
    bool other_beginning;
    std::size_t away;
    std::size_t rank;  // keeps the order of equals
    auto operator<=>(const Ranked&) const = default;
  };
  std::vector<Ranked> order;
  order.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    order.push_back({!begins_with(names[i], word), letters_apart(word, names[i]), i});
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> sorted;
  sorted.reserve(names.size());
  for (const auto& one : order) sorted.push_back(std::move(names[one.rank]));
  return sorted;
}

// Names of quite another length are left out before letters are compared: a word may be a megabyte.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::string> likely;
  std::ranges::copy_if(names, std::back_inserter(likely), [&](const std::string& name) {
    const auto apart = std::max(word.size(), name.size()) - std::min(word.size(), name.size());
    return apart <= slip(name) || begins_with(name, word);
  });
  const auto sorted = closest_first(word, std::move(likely));
  if (sorted.empty()) return "";
  const std::string& nearest = sorted.front();
  const bool near = letters_apart(word, nearest) <= slip(nearest) || begins_with(nearest, word);
  return near ? "did you mean '" + nearest + "'?" : "";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace stoker
