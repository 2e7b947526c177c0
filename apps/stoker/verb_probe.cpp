// `stoker probe`: the agent's child, the only process that calls the driver for readings.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "device/nvml/driver.h"
#include "device/probe/child.h"
#include "sample/gpu_sampler.h"
#include "verbs.h"

namespace stoker::app {
namespace {

[[noreturn]] void run(int fd) {
  device::probe::ChildParts parts;
  parts.open_driver = nvml::Driver::open;
  parts.make_sampler = [](const device::probe::SamplerParts& sampler) {
    return std::make_unique<sample::GpuSampler>(sampler);
  };
  device::probe::run_child(fd, parts);
}

}  // namespace

void add_probe_verb(CLI::App& app, int& exit_code) {
  auto fd = std::make_shared<int>(-1);
  CLI::App* verb = app.add_subcommand("probe", "Internal: samples the GPUs for the agent");
  verb->group("");  // not shown in --help: nobody starts it by hand
  verb->add_option("--fd", *fd, "Socket to the agent")->required();
  verb->callback([fd, &exit_code] {
    if (fcntl(*fd, F_GETFD) < 0) {
      throw CLI::ValidationError("--fd",
                                 "no descriptor of that number is open: `stoker probe` is "
                                 "started by the agent, not by hand");
    }
    exit_code = exit_could_not;
    run(*fd);
  });
}

}  // namespace stoker::app
