// Simulated library: what a call has to sit through before it is answered: the global lock, faults,
// and the time that it took on a real card. Every wait sleeps in the kernel.
#pragma once

#include <array>
#include <string>

#include "base/unique_fd.h"
#include "device/sim/library/function.h"
#include "device/sim/state_file.h"

namespace stoker::sim {

/// What the state orders for one call.
struct Orders {
  bool global_lock = false;
  bool never_returns = false;
  std::uint64_t delay_ns = 0;
  std::uint64_t cost_ns = 0;
  std::int32_t code = keep_code;
  std::array<char, sizeof(Fault::read_path)> read_path{};
};

/// For a call of `function` on `gpu` (a row of the state, or every_gpu for calls on none).
/// May be used inside StateFile::read.
[[nodiscard]] Orders orders_for(const State& state, const Function& function, std::int32_t gpu);

/// Sits through them, holding the global lock where there is one; the lock is let go with the
/// returned descriptor, at the end of the call.
[[nodiscard]] UniqueFd obey(const Orders& orders, const std::string& state_path);

}  // namespace stoker::sim
