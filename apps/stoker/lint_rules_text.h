// Composition: the rules of `stoker lint` for people and programs.
#pragma once

#include <string_view>

namespace stoker::app {

// Prints all rules, one a line, or as one object of JSON; returns the exit code.
int list_lint_rules(bool json);

// Prints what the rule `wanted` is about; one that is none is a complaint with the nearest name. Returns the exit code.
int explain_lint_rule(std::string_view wanted);

}  // namespace stoker::app
