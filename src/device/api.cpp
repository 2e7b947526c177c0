#include "device/api.h"

namespace stoker::device {

const char* to_string(GpuState state) {
  switch (state) {
    case GpuState::present: return "present";
    case GpuState::lost: return "lost";
    case GpuState::hung: return "hung";
  }
  return "lost";
}

const char* to_string(SourceState state) {
  switch (state) {
    case SourceState::starting: return "starting";
    case SourceState::running: return "running";
    case SourceState::released: return "released";
    case SourceState::library_missing: return "library_missing";
    case SourceState::driver_missing: return "driver_missing";
    case SourceState::version_mismatch: return "version_mismatch";
    case SourceState::no_permission: return "no_permission";
    case SourceState::driver_hung: return "driver_hung";
    case SourceState::failed: return "failed";
  }
  return "failed";
}

}  // namespace stoker::device
