// Simulated node: takes faults back. What was counted has happened and stays.
#include "device/simnode/clear.h"
#include "device/sim/load_model.h"
#include "device/simnode/fake_root.h"
#include "device/simnode/faults.h"

namespace stoker::simnode {
namespace {

void heal(Change& change, unsigned row) {
  sim::Gpu& gpu = change.gpu(row);
  sim::rebase(gpu, change.now_ns);
  gpu.disturbance = {};
  gpu.modes.recovery_action = 0;
  gpu.ecc.remap_pending = 0;
  gpu.ecc.remap_failed = 0;
  gpu.ecc.retired_pending = 0;
  for (unsigned link = 0; link < gpu.link_count; ++link) gpu.links[link].active = 1;
  for (auto& fault : change.state.faults) {
    if (fault.used != 0 && fault.gpu == static_cast<std::int32_t>(row)) fault = {};
  }
  if (gpu.presence == sim::Presence::present) return;
  gpu.presence = sim::Presence::present;
  ++gpu.incarnation;
  change.root.push_back({RootChange::Kind::gpu_back, row});
  change.root.push_back({RootChange::Kind::link_back, row});
}

void heal_driver(Change& change) {
  sim::Driver& driver = change.state.driver;
  driver.init_code = 0;
  driver.permission_denied = 0;
  driver.global_lock = 0;
  for (auto& fault : change.state.faults) fault = {};
  for (auto& device : rdma_devices(change.folder)) {
    change.ports.push_back({.kind = PortChange::Kind::back, .device = std::move(device)});
  }
  if (driver.loaded != 0) return;
  driver.loaded = 1;
  ++driver.load_count;
  change.root.push_back({RootChange::Kind::driver_back, 0});
}

}  // namespace

Result<std::string> apply_clear(Change& change) {
  // The driver's files come back before those of a GPU move into them.
  if (change.request.gpu == "all") heal_driver(change);
  for (const unsigned row : change.gpus) heal(change, row);
  return change.request.gpu == "all"
             ? std::string("every fault is taken back")
             : "every fault of " + gpu_words(change.gpus) + " is taken back";
}

Result<std::string> apply_load(Change& change) {
  const auto kind = find_load(change.request.name);
  if (!kind) return fail(ErrorCode::internal, "a load that was not checked");
  for (const unsigned row : change.gpus) {
    sim::Gpu& gpu = change.gpu(row);
    begin_load(gpu, row, *kind, gpu.load.seed, change.now_ns);
  }
  return gpu_words(change.gpus) + ": " + change.request.name;
}

}  // namespace stoker::simnode
