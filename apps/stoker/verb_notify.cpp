// Verb `notify`: does what Stoker tells arrive where it should? Needs no agent.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "command_line.h"
#include "notify_targets.h"
#include "os/system_env.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* notify_examples = R"(Examples:
  stoker notify                        a trial message to everybody that the config names
  stoker notify --config FILE

Exit codes: 0 all took it, 1 somebody did not, 2 the config names nobody, or is wrong.)";

int run(const ConfigFlags& flags) {
  const auto settings = resolve_settings(flags);
  if (!settings) return exit_could_not;
  std::vector<Finding> wrong;
  check_notify(*settings, wrong);
  fmt::print(stderr, "{}", render_table(wrong));
  if (!wrong.empty()) return exit_could_not;
  const auto targets = notify_targets(*settings);
  if (targets.empty()) {
    return complain("nobody is told of incidents: set notify.webhook or notify.alertmanager");
  }
  const auto env = os::make_system_env(settings->text(config::OptionId::root), "/");
  int exit_code = exit_nothing_wrong;
  for (const auto& target : targets) {
    auto request = notify::trial_message(target, env->hostname(), env->clock().wall());
    const auto why = [&]() -> std::optional<std::string> {
      const auto ready = notify::authorize(request, target);
      if (!ready) return ready.error().describe();
      return notify::refusal(net::http_send(request));
    }();
    fmt::print("{} {}: {}\n", target.name, net::without_secrets(target.url),
               why ? *why : "took it");
    if (why) exit_code = exit_found;
  }
  return exit_code;
}

}  // namespace

void add_notify_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ConfigFlags>();
  CLI::App* verb =
      app.add_subcommand("notify", "Send a trial message to those who are told of incidents");
  add_config_file_flag(*verb, *flags);
  verb->footer(notify_examples);
  verb->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace stoker::app
