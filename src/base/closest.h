// Ground stage: what somebody probably meant. Unknown verbs, keys, faults and products all answer
// with the names that exist, the nearest first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// `names` sorted by how few letters differ from `word` (insertions, deletions, swaps of one letter
// for another); a name that begins with `word` comes before one that does not. Stable otherwise.
std::vector<std::string> closest_first(std::string_view word, std::vector<std::string> names);

// How many letters have to be put in, taken out or swapped for another to make `b` of `a`.
std::size_t letters_apart(std::string_view a, std::string_view b);

// "did you mean 'power'?" where one name is near enough to be a slip of the hand, else empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

// "a, b and c".
std::string listed(const std::vector<std::string>& words);

}  // namespace stoker
