// Simulated node: faults of the driver as a whole.
#include <fmt/format.h>

#include "device/sim/load_model.h"
#include "device/simnode/fake_root.h"
#include "device/simnode/faults.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {

Result<std::string> apply_global_lock(Change& change) {
  change.state.driver.global_lock = 1;
  return "all calls of all processes take one lock from now on: one that hangs stops them all";
}

Result<std::string> apply_driver_unload(Change& change) {
  if (change.state.driver.loaded == 0) {
    return fail(ErrorCode::invalid_input, "the driver is not loaded");
  }
  change.state.driver.loaded = 0;
  change.root.push_back({RootChange::Kind::driver_gone, 0});
  change.lines.push_back({KernelLevel::info,
                          "nvidia-nvlink: Unregistered Nvlink Core, major device number 240",
                          std::nullopt});
  return "the driver is unloaded: nvmlInit answers DRIVER_NOT_LOADED";
}

// A new driver counts volatile errors and energy from zero, forgets what it advised and has no client.
Result<std::string> apply_driver_load(Change& change) {
  sim::Driver& driver = change.state.driver;
  if (driver.loaded != 0) return fail(ErrorCode::invalid_input, "the driver is loaded already");
  driver.loaded = 1;
  ++driver.load_count;
  for (auto& gpu : change.state.gpus) {
    if (gpu.presence == sim::Presence::absent) continue;
    const sim::LoadKind load = gpu.load.kind;
    const std::uint64_t seed = gpu.load.seed;
    sim::settle(gpu, change.now_ns);
    sim::start_load(gpu, load, seed, change.now_ns);
    for (auto& kind : gpu.ecc.total) kind[0] = 0;
    for (auto& kind : gpu.ecc.by_location) std::fill(std::begin(kind[0]), std::end(kind[0]), 0);
    gpu.ecc.sram_volatile_parity = 0;
    gpu.ecc.sram_volatile_sec_ded = 0;
  }
  change.root.push_back({RootChange::Kind::driver_back, 0});
  for (auto& line : load_lines(std::string(get(driver.driver_version)))) {
    change.lines.push_back(std::move(line));
  }
  return fmt::format("the driver is loaded, for the {}. time", driver.load_count);
}

Result<std::string> apply_init_fail(Change& change) {
  const auto code = parse_return_code(change.request.args[0], "init-fail");
  if (!code) return fail(code.error());
  change.state.driver.init_code = *code;
  return fmt::format("nvmlInit answers {} from now on", *code);
}

Result<std::string> apply_permission_denied(Change& change) {
  change.state.driver.permission_denied = 1;
  return "nvmlInit answers NO_PERMISSION from now on";
}

}  // namespace stoker::simnode
