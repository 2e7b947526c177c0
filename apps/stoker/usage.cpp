#include "usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/closest.h"
#include "command_line.h"
#include "verbs.h"

namespace stoker::app {
namespace {

bool is_flag(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

// The innermost verb that was understood: "config show" of `stoker config show --x`.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> flags_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// What to say about the first argument that nobody knows; "" if that is not what is wrong.
std::string unknown_word(const CLI::App& app) {
  const CLI::App& verb = innermost(app);
  const auto unknown = app.remaining(/*recurse=*/true);
  if (unknown.empty()) return "";
  const auto flag = std::ranges::find_if(unknown, is_flag);
  if (flag != unknown.end()) {
    const auto hint = did_you_mean(*flag, flags_of(verb));
    return fmt::format("there is no flag \"{}\"; {}", *flag,
                       hint.empty() ? "--help lists those that there are" : hint);
  }
  const auto verbs = verbs_of(verb);
  if (verbs.empty()) return "";
  const auto hint = did_you_mean(unknown.front(), verbs);
  return fmt::format("there is no verb \"{}\"; {}", unknown.front(),
                     hint.empty() ? "there are " + listed(verbs) : hint);
}

}  // namespace

int explain_usage(const CLI::App& app, const CLI::ParseError& problem) {
  if (problem.get_exit_code() == 0) {
    app.exit(problem);  // help or version
    return exit_nothing_wrong;
  }
  if (const auto message = unknown_word(app); !message.empty()) return complain(message);
  const CLI::App& verb = innermost(app);
  if (!verbs_of(verb).empty()) {  // a verb is missing: show which there are
    fmt::print(stderr, "{}", verb.help(&verb == &app ? "" : "stoker"));
    return exit_could_not;
  }
  return complain(fmt::format("{}; see --help", problem.what()));
}

std::optional<int> refuse_empty(const std::vector<std::string>& arguments) {
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    const std::string& word = arguments[n];
    if (is_flag(word) && word.find('=') + 1 == word.size()) {
      return complain(fmt::format("{} has no value behind it", word));
    }
    if (!word.empty()) continue;
    if (n > 0 && is_flag(arguments[n - 1])) {
      return complain(fmt::format("the value of {} is empty; leave the flag out if none is meant",
                                  arguments[n - 1]));
    }
    return complain(fmt::format("argument {} is empty", n + 1));
  }
  return std::nullopt;
}

int explain_refusal(const std::system_error& problem) {
  if (std::ferror(stdout) != 0) return exit_could_not;
  return complain(fmt::format("the system refused: {}", problem.what()));
}

}  // namespace stoker::app
