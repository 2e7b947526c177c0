#include "device/sim/library/session.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "base/thread_safety.h"

namespace stoker::sim {
namespace {

struct Sessions {
  std::mutex opening;  // held while GPUs are attached: others who init wait, calls do not
  Mutex mutex;
  std::shared_ptr<const Session> current GUARDED_BY(mutex);
  unsigned openings GUARDED_BY(mutex) = 0;
};

// Never destroyed: a thread may still be inside a call when the process ends.
Sessions& sessions() {
  static auto* const all = new Sessions;
  return *all;
}

bool count_up() {
  Sessions& all = sessions();
  const MutexLock lock(all.mutex);
  if (all.current == nullptr) return false;
  ++all.openings;
  return true;
}

Return code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found: return Return::driver_not_loaded;
    case ErrorCode::no_permission: return Return::no_permission;
    case ErrorCode::not_supported: return Return::lib_rm_version_mismatch;
    default: return Return::unknown;
  }
}

Return refusal(const Driver& driver) {
  if (driver.loaded == 0) return Return::driver_not_loaded;
  if (driver.permission_denied != 0) return Return::no_permission;
  return static_cast<Return>(driver.init_code);
}

std::vector<std::uint32_t> rows_of(const State& state) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < max_gpus; ++row) {
    const Presence presence = state.gpus[row].presence;
    if (presence == Presence::present || presence == Presence::lost) rows.push_back(row);
  }
  return rows;
}

}  // namespace

nvml::DriverVersion version_of(const Driver& driver) {
  const std::string_view text(driver.driver_version,
                              ::strnlen(driver.driver_version, sizeof driver.driver_version));
  return nvml::parse_driver_version(text).value_or(nvml::newest_driver);
}

Return open_session(unsigned flags, const char* state_path,
                    FunctionRef<Return(const StateFile&, std::int32_t)> wait) {
  const std::lock_guard opening(sessions().opening);
  if (count_up()) return Return::success;
  if (state_path == nullptr || *state_path == '\0') return Return::library_not_found;
  auto file = StateFile::open(state_path, StateFile::Access::read);
  if (!file) return code_of(file.error().code());
  const Return refused = file->read([](const State& state) { return refusal(state.driver); });
  if (refused != Return::success) return refused;
  if (const Return ordered = wait(*file, every_gpu); ordered != Return::success) return ordered;
  auto session = std::make_shared<Session>(
      Session{.file = std::move(*file), .init_flags = flags, .load_count = 0, .rows = {}});
  session->rows = session->file.read([](const State& state) { return rows_of(state); });
  session->load_count =
      session->file.read([](const State& state) { return state.driver.load_count; });
  session->incarnation = session->file.read([](const State& state) {
    std::array<std::uint32_t, max_gpus> all{};
    for (std::size_t row = 0; row < max_gpus; ++row) all[row] = state.gpus[row].incarnation;
    return all;
  });
  if (session->rows.empty() && (flags & init_flag_no_gpus) == 0) return Return::not_found;
  if ((flags & init_flag_no_attach) == 0) {
    for (const std::uint32_t row : session->rows) {
      static_cast<void>(wait(session->file, static_cast<std::int32_t>(row)));
    }
  }
  Sessions& all = sessions();
  const MutexLock lock(all.mutex);
  all.current = std::move(session);
  all.openings = 1;
  return Return::success;
}

Return close_session() {
  Sessions& all = sessions();
  const MutexLock lock(all.mutex);
  if (all.current == nullptr) return Return::uninitialized;
  if (--all.openings == 0) all.current.reset();
  return Return::success;
}

std::shared_ptr<const Session> current_session() {
  Sessions& all = sessions();
  const MutexLock lock(all.mutex);
  return all.current;
}

}  // namespace stoker::sim
