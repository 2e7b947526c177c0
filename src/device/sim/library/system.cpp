// Simulated library: start, stop, and what the driver is.
#include <cstdio>
#include <cstdlib>

#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

Return init(const Function& function, unsigned flags) {
  return open_session(flags, std::getenv(state_path_variable),
                      [&](const StateFile& file, std::int32_t gpu) {
                        return wait_before_session(file, function, gpu);
                      });
}

// The header's constants in words of our own; callers show them, none parses them.
const char* words(Return result) {
  switch (result) {
    case Return::success: return "Success";
    case Return::uninitialized: return "Uninitialized";
    case Return::invalid_argument: return "Invalid Argument";
    case Return::not_supported: return "Not Supported";
    case Return::no_permission: return "Insufficient Permissions";
    case Return::already_initialized: return "Already Initialized";
    case Return::not_found: return "Not Found";
    case Return::insufficient_size: return "Insufficient Size";
    case Return::insufficient_power: return "Insufficient External Power";
    case Return::driver_not_loaded: return "Driver Not Loaded";
    case Return::timeout: return "Timeout";
    case Return::irq_issue: return "Interrupt Request Issue";
    case Return::library_not_found: return "NVML Shared Library Not Found";
    case Return::function_not_found: return "Function Not Found";
    case Return::corrupted_inforom: return "Corrupted infoROM";
    case Return::gpu_is_lost: return "GPU is lost";
    case Return::reset_required: return "GPU requires reset";
    case Return::operating_system: return "GPU access blocked by the operating system";
    case Return::lib_rm_version_mismatch: return "Driver/library version mismatch";
    case Return::in_use: return "In use by another client";
    case Return::memory: return "Insufficient Memory";
    case Return::no_data: return "No data";
    case Return::vgpu_ecc_not_supported: return "vGPU with ECC is not supported";
    case Return::insufficient_resources: return "Insufficient Resources";
    case Return::freq_not_supported: return "Frequency not supported";
    case Return::argument_version_mismatch: return "Argument Version Mismatch";
    case Return::deprecated: return "The requested functionality has been deprecated";
    case Return::not_ready: return "System is not in ready state";
    case Return::gpu_not_found: return "No GPUs were found";
    case Return::invalid_state: return "Resource is in an invalid state";
    case Return::reset_type_not_supported: return "Reset type is not supported";
    case Return::unknown: break;
  }
  return "Unknown Error";
}

// Simulated processes are in the state only; NVML cuts a name that is too long.
Return process_name(unsigned pid, const State& state, char* name, unsigned length) {
  for (const Gpu& gpu : state.gpus) {
    for (const Process& process : gpu.processes) {
      if (process.kind != ProcessKind::none && process.pid == pid) {
        const std::string_view text = text_of(process.name);
        return copy_text(text.substr(0, length - 1), name, length);
      }
    }
  }
  return Return::not_found;
}

}  // namespace

extern "C" {

Return nvmlInit_v2() { return init(fn(__func__), 0); }
Return nvmlInit() { return init(fn(__func__), 0); }
Return nvmlInitWithFlags(unsigned flags) { return init(fn(__func__), flags); }
Return nvmlShutdown() {
  // Faults may hold it up; nothing keeps it from closing.
  static_cast<void>(
      on_system(fn(__func__), true, [](const SystemView&) { return Return::success; }));
  return close_session();
}
const char* nvmlErrorString(Return result) { return words(result); }

Return nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return on_system(fn(__func__), version != nullptr, [&](const SystemView& view) {
    return copy_text(text_of(view.state.driver.driver_version), version, length);
  });
}

Return nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return on_system(fn(__func__), version != nullptr, [&](const SystemView& view) {
    return copy_text(text_of(view.state.driver.nvml_version), version, length);
  });
}

Return nvmlSystemGetCudaDriverVersion_v2(int* cuda_driver_version) {
  return on_system(fn(__func__), cuda_driver_version != nullptr, [&](const SystemView& view) {
    *cuda_driver_version = view.state.driver.cuda_version;
    return Return::success;
  });
}

Return nvmlSystemGetCudaDriverVersion(int* cuda_driver_version) {
  return on_system(fn(__func__), cuda_driver_version != nullptr, [&](const SystemView& view) {
    *cuda_driver_version = view.state.driver.cuda_version;
    return Return::success;
  });
}

Return nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  return on_system(fn(__func__), name != nullptr && length > 0, [&](const SystemView& view) {
    return process_name(pid, view.state, name, length);
  });
}

Return nvmlUnitGetCount(unsigned* unit_count) {
  return on_system(fn(__func__), unit_count != nullptr, [&](const SystemView&) {
    *unit_count = 0;  // S-class systems: none has been built for many years
    return Return::success;
  });
}

/// Not of NVML: by exporting it, this library says that its cards are simulated.
// NOLINTNEXTLINE(readability-identifier-naming): named as the functions beside it
[[gnu::visibility("default")]] int stokerSimulatedDriver() { return 1; }

}  // extern "C"
}  // namespace stoker::sim
