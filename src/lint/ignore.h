// Analyzer stage: what somebody has looked at and wants to hear no more of, said by a comment in the file. Any kind of
// file whose comments begin with '#'.
//
//   image: x:latest  # stoker-lint-ignore: image-latest        findings of this line
//   # stoker-lint-ignore: readiness-missing, shm-missing       findings of the next line that is no comment
//   # stoker-lint-ignore-document: all                         findings between the lines '---' around
#pragma once

#include <string_view>
#include <vector>

#include "model/finding.h"

namespace stoker::lint {

// Takes the findings out of `findings` that a comment of `text`, the file that all of them are about, wants ignored.
// How many they were.
std::size_t take_out_ignored(std::string_view text, std::vector<Finding>& findings);

// Is `rule` one of the words of `list` ("a, b", "all")?
bool lists_rule(std::string_view list, std::string_view rule);

}  // namespace stoker::lint
