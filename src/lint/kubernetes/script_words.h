// Analyzer stage: a container's command and args as words, and options found among them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/kubernetes/workload.h"

namespace stoker::lint::kubernetes {

// Adds the words of one item of command or args: the item itself, or, of a script, the pieces between blanks, quotes
// and ;|&().
void add_words(yaml::View item, std::vector<Word>& words);

// The last part of a path: "/usr/bin/torchrun" -> "torchrun".
std::string_view base_name(std::string_view path);

struct OptionValue {
  std::string text;  // with $(NAME), $NAME and ${NAME} replaced where the container's env says them
  yaml::View from;   // where it stands
};

// The value of the last of the options `names` ("--tensor-parallel-size", "-tp"), written "--x=1" or "--x 1"; '_' and
// '-' inside a name are the same. nullopt: there is none.
std::optional<OptionValue> option_of(const Container& container,
                                     std::initializer_list<std::string_view> names);

// `text` with $(NAME), $NAME and ${NAME} replaced by what the container's env says; what it does not say stays.
std::string expanded(const Container& container, std::string_view text);

// The whole number of an option, or of the variable `variable` ("" for none); nullopt: none, or no number.
std::optional<int> number_of(const Container& container,
                             std::initializer_list<std::string_view> names,
                             std::string_view variable = {});

}  // namespace stoker::lint::kubernetes
