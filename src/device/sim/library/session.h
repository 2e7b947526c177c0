// Simulated library: what lies between nvmlInit and nvmlShutdown. One session a process; a call that
// hangs keeps the session that it began with.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "device/nvml/abi_table.h"
#include "device/sim/library/function.h"
#include "device/sim/state_file.h"

namespace stoker::sim {

struct Session {
  StateFile file;
  unsigned init_flags = 0;
  std::uint32_t load_count = 0;     // of the driver that it talks to
  std::vector<std::uint32_t> rows;  // of State::gpus, by NVML index
  std::array<std::uint32_t, max_gpus> incarnation{};
};

/// The driver's version as the state tells it; a string that is none counts as the newest.
[[nodiscard]] nvml::DriverVersion version_of(const Driver& driver);

/// Counts up where a session is open, else opens one from the state at `state_path`. `wait` is called
/// for the init itself (every_gpu), whose code is the answer, and then for each GPU that is attached
/// (none with NO_ATTACH), whose code is not; it may never return.
[[nodiscard]] Return open_session(unsigned flags, const char* state_path,
                                  FunctionRef<Return(const StateFile&, std::int32_t gpu)> wait);
[[nodiscard]] Return close_session();
/// Null before init and after the last shutdown.
[[nodiscard]] std::shared_ptr<const Session> current_session();

}  // namespace stoker::sim
