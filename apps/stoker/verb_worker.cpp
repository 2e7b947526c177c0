// `stoker worker`: the child of `stoker diag`, the only process that has a CUDA context.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "diag/worker.h"
#include "verbs.h"

namespace stoker::app {

void add_worker_verb(CLI::App& app, int& exit_code) {
  auto fd = std::make_shared<int>(-1);
  CLI::App* verb = app.add_subcommand("worker", "Internal: runs active tests on the GPUs");
  verb->group("");  // not shown in --help: nobody starts it by hand
  verb->add_option("--fd", *fd, "Socket to who asked for the tests")->required();
  verb->callback([fd, &exit_code] {
    if (fcntl(*fd, F_GETFD) < 0) {
      throw CLI::ValidationError("--fd",
                                 "no descriptor of that number is open: `stoker worker` is "
                                 "started by `stoker diag`, not by hand");
    }
    exit_code = diag::run_worker(*fd);
  });
}

}  // namespace stoker::app
