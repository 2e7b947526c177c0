#include "device/simnode/report.h"

#include <fmt/format.h>

#include "device/simnode/fake_root.h"
#include "device/simnode/function_names.h"
#include "device/simnode/loads.h"
#include "device/simnode/mig.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

std::string function_words(std::uint32_t hash) {
  if (hash == sim::every_function) return "every call";
  for (const auto name : function_names) {
    if (sim::name_hash(name) == hash) return std::string(name);
  }
  return "a call";
}

std::string fault_words(const sim::Fault& fault) {
  const std::string call = function_words(fault.function);
  if (fault.never_returns != 0) return "hang: " + call;
  if (fault.read_path[0] != '\0') return fmt::format("block-on {}: {}", get(fault.read_path), call);
  if (fault.delay_ns != 0) {
    return fmt::format("slow by {}: {}",
                       format_duration(Nanoseconds(static_cast<std::int64_t>(fault.delay_ns))),
                       call);
  }
  return fmt::format("fail with {}: {}", fault.code, call);
}

void add_states(const sim::Gpu& gpu, std::vector<std::string>& out) {
  if (gpu.presence == sim::Presence::lost) out.emplace_back("lost: fallen off the bus");
  if (gpu.presence == sim::Presence::vanished) out.emplace_back("vanished");
  if (gpu.disturbance.temperature_mc != 0) {
    out.push_back(fmt::format("thermal: {:+d} degrees", gpu.disturbance.temperature_mc / 1000));
  }
  if (gpu.disturbance.clocks_event_reasons != 0) out.emplace_back("power-brake");
  if (gpu.ecc.remap_pending != 0) out.emplace_back("remap-pending");
  if (gpu.ecc.remap_failed != 0) out.emplace_back("remap-failure");
  if (gpu.ecc.retired_pending != 0) out.emplace_back("page retirement pending");
  for (unsigned link = 0; link < gpu.link_count; ++link) {
    if (gpu.links[link].active == 0) out.push_back(fmt::format("nvlink-down: {}", link));
  }
  if (gpu.modes.recovery_action != 0) {
    out.push_back(fmt::format("recovery action: {}", gpu.modes.recovery_action));
  }
}

SimGpu describe_gpu(const sim::State& state, unsigned row) {
  const sim::Gpu& gpu = state.gpus[row];
  SimGpu out;
  out.index = row;
  out.uuid = get(gpu.identity.uuid);
  out.name = get(gpu.identity.name);
  out.pci = address_of(gpu.pci);
  out.load = load_name(gpu.load.kind);
  for (const auto& fault : state.faults) {
    if (fault.used != 0 && fault.gpu == static_cast<std::int32_t>(row)) {
      out.faults.push_back(fault_words(fault));
    }
  }
  add_states(gpu, out.faults);
  out.migs = describe_instances(gpu.mig);
  for (const auto& process : gpu.processes) {
    if (process.kind != sim::ProcessKind::none) out.pids.push_back(process.pid);
  }
  return out;
}

void describe_driver(const sim::Driver& driver, SimReport& report) {
  report.driver_version = get(driver.driver_version);
  if (driver.loaded == 0) report.faults.emplace_back("driver-unload");
  if (driver.global_lock != 0) report.faults.emplace_back("global-lock");
  if (driver.permission_denied != 0) report.faults.emplace_back("permission-denied");
  if (driver.init_code != 0) report.faults.push_back(fmt::format("init-fail {}", driver.init_code));
}

}  // namespace

void describe(const sim::State& state, SimReport& report) {
  describe_driver(state.driver, report);
  for (unsigned row = 0; row < sim::max_gpus; ++row) {
    if (state.gpus[row].presence == sim::Presence::absent) continue;
    report.gpus.push_back(describe_gpu(state, row));
  }
}

}  // namespace stoker::simnode
