// Simulated library: clocks, why they are low, and the calls that set them.
#include <cmath>
#include <optional>

#include "device/sim/library/gate.h"

namespace stoker::sim {
namespace {

constexpr unsigned clock_types = 4;

std::optional<std::size_t> index_of(ClockType type) {
  const auto index = static_cast<std::size_t>(type);
  if (index >= clock_types) return std::nullopt;
  return index;
}

unsigned current_mhz(const View& view, std::size_t clock) {
  return static_cast<unsigned>(std::lround(view.activity().clock_mhz[clock]));
}

// A table of the facts by clock; 0 is a clock that the product does not tell.
using Table = std::uint32_t (ClockFacts::*)[clock_types];
Return tell_table(const Function& function, Device device, ClockType type, unsigned* mhz,
                  Table table) {
  const auto clock = index_of(type);
  return on_gpu(function, device, clock && mhz != nullptr, [&](const View& view) {
    const std::uint32_t value = (view.gpu.clocks.*table)[*clock];
    if (value == 0) return Return::not_supported;
    *mhz = value;
    return Return::success;
  });
}

const ClockFacts::Row* row_of(const ClockFacts& clocks, unsigned memory_mhz) {
  for (unsigned row = 0; row < clocks.memory_clock_count; ++row) {
    if (clocks.rows[row].memory_mhz == memory_mhz) return &clocks.rows[row];
  }
  return nullptr;
}

bool holds(const ClockFacts::Row& row, unsigned graphics_mhz) {
  return graphics_mhz >= row.graphics_min_mhz && graphics_mhz <= row.graphics_max_mhz &&
         (row.step_mhz == 0 || (row.graphics_max_mhz - graphics_mhz) % row.step_mhz == 0);
}

Return reasons(const Function& function, Device device, std::uint64_t* out) {
  return tell(function, device, out,
              [](const View& view) { return view.activity().clocks_event_reasons; });
}

Return supported_reasons(const Function& function, Device device, std::uint64_t* out) {
  return tell(function, device, out,
              [](const View& view) { return view.gpu.clocks.supported_reasons; });
}

Return lock_clocks(const Function& function, Device device, unsigned low, unsigned high) {
  return change_gpu(function, device, low <= high, [&](const ChangeView& view) {
    rebase(view.gpu, view.now_ns());
    view.gpu.clocks.locked_min_mhz = low;
    view.gpu.clocks.locked_max_mhz = high;
    return Return::success;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetClockInfo(Device device, ClockType type, unsigned* clock) {
  const auto index = index_of(type);
  return tell(fn(__func__), device, index ? clock : nullptr,
              [&](const View& view) { return current_mhz(view, *index); });
}

Return nvmlDeviceGetMaxClockInfo(Device device, ClockType type, unsigned* clock) {
  return tell_table(fn(__func__), device, type, clock, &ClockFacts::max_mhz);
}

Return nvmlDeviceGetMaxCustomerBoostClock(Device device, ClockType clock_type, unsigned* mhz) {
  return tell_table(fn(__func__), device, clock_type, mhz, &ClockFacts::max_customer_boost_mhz);
}

Return nvmlDeviceGetApplicationsClock(Device device, ClockType clock_type, unsigned* mhz) {
  const auto index = index_of(clock_type);
  return on_gpu(fn(__func__), device, index && mhz != nullptr, [&](const View& view) {
    const ClockFacts& clocks = view.gpu.clocks;
    const std::uint32_t set = clocks.application_mhz[*index];
    const std::uint32_t value = set != 0 ? set : clocks.default_application_mhz[*index];
    if (value == 0) return Return::not_supported;
    *mhz = value;
    return Return::success;
  });
}

Return nvmlDeviceGetDefaultApplicationsClock(Device device, ClockType clock_type, unsigned* mhz) {
  return tell_table(fn(__func__), device, clock_type, mhz, &ClockFacts::default_application_mhz);
}

Return nvmlDeviceGetClock(Device device, ClockType clock_type, ClockId clock_id, unsigned* mhz) {
  const auto index = index_of(clock_type);
  return on_gpu(fn(__func__), device, index && mhz != nullptr, [&](const View& view) {
    const ClockFacts& clocks = view.gpu.clocks;
    std::uint32_t value = 0;
    switch (clock_id) {
      case ClockId::current: value = current_mhz(view, *index); break;
      case ClockId::application_target: value = clocks.application_mhz[*index]; break;
      case ClockId::application_default: value = clocks.default_application_mhz[*index]; break;
      case ClockId::customer_boost_max: value = clocks.max_customer_boost_mhz[*index]; break;
      default: return Return::invalid_argument;
    }
    if (clock_id == ClockId::application_target && value == 0) {
      value = clocks.default_application_mhz[*index];
    }
    if (value == 0) return Return::not_supported;
    *mhz = value;
    return Return::success;
  });
}

Return nvmlDeviceGetSupportedMemoryClocks(Device device, unsigned* count, unsigned* mhz) {
  ArrayOut<unsigned> out(mhz, count);
  return on_gpu(fn(__func__), device, out.good(), [&](const View& view) {
    const ClockFacts& clocks = view.gpu.clocks;
    if (clocks.memory_clock_count == 0) return Return::not_supported;
    out.clear();
    for (unsigned row = 0; row < clocks.memory_clock_count; ++row) {
      out.add(clocks.rows[row].memory_mhz);
    }
    return out.finish();
  });
}

Return nvmlDeviceGetSupportedGraphicsClocks(Device device, unsigned memory_clock_mhz,
                                            unsigned* count, unsigned* mhz) {
  ArrayOut<unsigned> out(mhz, count);
  return on_gpu(fn(__func__), device, out.good(), [&](const View& view) {
    if (view.gpu.clocks.memory_clock_count == 0) return Return::not_supported;
    const ClockFacts::Row* row = row_of(view.gpu.clocks, memory_clock_mhz);
    if (row == nullptr) return Return::not_found;
    out.clear();
    const unsigned step = row->step_mhz == 0 ? row->graphics_max_mhz : row->step_mhz;
    for (unsigned value = row->graphics_max_mhz; value >= row->graphics_min_mhz && value > 0;) {
      out.add(value);
      value = value > step ? value - step : 0;
    }
    return out.finish();
  });
}

Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device,
                                                 std::uint64_t* clocks_throttle_reasons) {
  return reasons(fn(__func__), device, clocks_throttle_reasons);
}
Return nvmlDeviceGetCurrentClocksEventReasons(Device device, std::uint64_t* clocks_event_reasons) {
  return reasons(fn(__func__), device, clocks_event_reasons);
}
Return nvmlDeviceGetSupportedClocksThrottleReasons(
    Device device, std::uint64_t* supported_clocks_throttle_reasons) {
  return supported_reasons(fn(__func__), device, supported_clocks_throttle_reasons);
}
Return nvmlDeviceGetSupportedClocksEventReasons(Device device,
                                                std::uint64_t* supported_clocks_event_reasons) {
  return supported_reasons(fn(__func__), device, supported_clocks_event_reasons);
}

Return nvmlDeviceGetPerformanceState(Device device, PState* state) {
  return tell(fn(__func__), device, state, [](const View& view) { return view.activity().pstate; });
}
Return nvmlDeviceGetPowerState(Device device, PState* state) {
  return tell(fn(__func__), device, state, [](const View& view) { return view.activity().pstate; });
}

Return nvmlDeviceGetSupportedPerformanceStates(Device device, PState* pstates, unsigned size) {
  const unsigned room = size / sizeof(PState);
  return on_gpu(fn(__func__), device, pstates != nullptr, [&](const View& view) {
    const std::uint32_t idle = view.gpu.clocks.idle_pstate;
    const unsigned needed = idle == 0 ? 1 : 2;
    if (room < needed) return Return::insufficient_size;
    for (unsigned i = 0; i < room; ++i) pstates[i] = PState::unknown;
    pstates[0] = PState::p0;
    if (idle != 0) pstates[1] = static_cast<PState>(idle);
    return Return::success;
  });
}

Return nvmlDeviceGetClkMonStatus(Device device, ClockMonitorStatus* status) {
  return on_gpu(fn(__func__), device, status != nullptr,
                [](const View&) { return Return::not_supported; });
}

Return nvmlDeviceSetApplicationsClocks(Device device, unsigned mem_clock_mhz,
                                       unsigned graphics_clock_mhz) {
  return change_gpu(fn(__func__), device, true, [&](const ChangeView& view) {
    ClockFacts& clocks = view.gpu.clocks;
    if (clocks.memory_clock_count == 0) return Return::not_supported;
    const ClockFacts::Row* row = row_of(clocks, mem_clock_mhz);
    if (row == nullptr || !holds(*row, graphics_clock_mhz)) return Return::invalid_argument;
    rebase(view.gpu, view.now_ns());
    clocks.application_mhz[0] = clocks.application_mhz[1] = graphics_clock_mhz;
    clocks.application_mhz[2] = mem_clock_mhz;
    return Return::success;
  });
}

Return nvmlDeviceResetApplicationsClocks(Device device) {
  return change_gpu(fn(__func__), device, true, [&](const ChangeView& view) {
    rebase(view.gpu, view.now_ns());
    for (std::uint32_t& mhz : view.gpu.clocks.application_mhz) mhz = 0;
    return Return::success;
  });
}

Return nvmlDeviceSetGpuLockedClocks(Device device, unsigned min_gpu_clock_mhz,
                                    unsigned max_gpu_clock_mhz) {
  return lock_clocks(fn(__func__), device, min_gpu_clock_mhz, max_gpu_clock_mhz);
}

Return nvmlDeviceResetGpuLockedClocks(Device device) {
  return lock_clocks(fn(__func__), device, 0, 0);
}

}  // extern "C"
}  // namespace stoker::sim
