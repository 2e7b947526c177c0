// Analyzer stage: how many ranks a server or launcher starts, by its command and variables.
#pragma once

#include <cstdint>
#include <string>

#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {

// A number of ranks, and what it was made from.
struct Ranks {
  std::int64_t count = 1;
  std::string text;
  yaml::View from;
  bool known = true;    // false: an option whose value is not known here
  bool stated = false;  // the command says it, or a default that nothing else may set
};

// The ranks of one pod; of a server in a LeaderWorkerSet those of its whole group.
Ranks ranks_of(const Subject& subject, const Container& container);

// Has the command one of the options `names`?
bool has_option(const Container& container, std::initializer_list<std::string_view> names);
bool has_word(const Container& container, std::string_view wanted);

}  // namespace stoker::lint::kubernetes
