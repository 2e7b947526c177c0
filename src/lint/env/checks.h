// Analyzer stage: the parts of lint_environment(). Private to env.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lint/env/environment.h"

namespace stoker::lint {

// Collects findings of env/rules.def.
class EnvReport {
 public:
  Finding& add(std::string_view rule, const Variable& at, std::string message);
  std::vector<Finding> take() { return std::move(found_); }

 private:
  std::vector<Finding> found_;
};

// What is set to a value that is known, by name; in a script only what it sets once, since the last word is unknown.
using EnvValues = std::map<std::string_view, const Variable*, std::less<>>;
EnvValues known_values(std::span<const Variable> variables, EnvReader reader);
// The value of `name`; "" where it is not set.
std::string_view value_of(const EnvValues& values, std::string_view name);
// Would NCCL read `text` as a number other than 0?
bool is_on(std::string_view text);
// Does a value wait for somebody to fill it in: $VAR, {{ template }}, <your interface>?
bool is_placeholder(std::string_view value);
// The items between commas, as NCCL cuts them: not trimmed, empty ones left out.
std::vector<std::string_view> list_items(std::string_view list);
// What a program that reads by strtoll(text, nullptr, 0) sees: the number, and whether nothing stood behind it.
struct ReadNumber {
  long long value = 0;
  bool whole = false;
};
ReadNumber read_number(std::string_view text);

void check_name(const Variable& variable, const EnvContext& context, EnvReport& report);
void check_value(const Variable& variable, const KnownVariable& known, const EnvContext& context,
                 EnvReport& report);
void check_list(const Variable& variable, const KnownVariable& known, const EnvContext& context,
                EnvReport& report);
// Settings that are right by value and wrong by what they do to a job.
void check_effect(const Variable& variable, const EnvContext& context, EnvReport& report);
void check_together(const EnvValues& values, EnvReport& report);

}  // namespace stoker::lint
