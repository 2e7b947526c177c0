// `stoker inquirer`: the agent's child that finds out why a job looks hung.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "inquirer.h"
#include "verbs.h"

namespace stoker::app {

void add_inquirer_verb(CLI::App& app, int& exit_code) {
  struct Flags {
    InquirerOptions options;
    int fd = -1;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("inquirer", "Internal: asks a job that looks hung");
  verb->group("");  // not shown in --help: nobody starts it by hand
  verb->add_option("--fd", flags->fd, "Socket to the agent")->required();
  verb->add_option("--root", flags->options.root, "The host's files");
  verb->add_option("--device-root", flags->options.device_root, "A simulated node's");
  verb->add_option("--log", flags->options.logs, "Patterns of logs of jobs")
      ->allow_extra_args(false);
  verb->add_option("--pid", flags->options.pids, "Processes of the job")->allow_extra_args(false);
  verb->add_option("--ras-timeout", flags->options.ras_timeout_seconds, "Seconds");
  verb->add_option("--ras-wait", flags->options.ras_wait_seconds, "Seconds");
  verb->callback([flags, &exit_code] {
    if (fcntl(flags->fd, F_GETFD) < 0) {
      throw CLI::ValidationError("--fd",
                                 "no descriptor of that number is open: `stoker inquirer` is "
                                 "started by the agent, not by hand");
    }
    exit_code = run_inquirer(flags->options, flags->fd);
  });
}

}  // namespace stoker::app
