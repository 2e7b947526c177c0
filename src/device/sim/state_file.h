// Simulated driver: maps a state file, and says when it may be read or written. Readers never wait
// for a writer and need no right to write; writers (of all processes) take turns.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "device/sim/state.h"

namespace stoker::sim {

/// The environment variable by which the library finds its state.
inline constexpr const char* state_path_variable = "STOKER_SIM_STATE";

/// The empty file beside the state that calls lock while Driver::global_lock is set.
[[nodiscard]] std::string lock_path(const std::string& state_path);

class StateFile {
 public:
  enum class Access { read, write };

  /// A file of zeroes but for a valid header, open for writing. What is there already is changed in
  /// place where it is a state of this layout, so that those who have it mapped see the new one.
  [[nodiscard]] static Result<StateFile> create(const std::string& path);

  /// corrupt where the file isn't a state of this layout; the message names path and reason.
  [[nodiscard]] static Result<StateFile> open(const std::string& path, Access access);

  StateFile(StateFile&& other) noexcept;
  StateFile& operator=(StateFile&& other) noexcept;
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;
  ~StateFile();

  /// Calls `reader(const State&)` and returns what it answers. It is called again if a writer was
  /// inside meanwhile, so it may only look and fill locals; it must not sleep. Any thread.
  template <typename Reader>
  auto read(Reader&& reader) const {
    for (int attempt = 0;; ++attempt) {
      const std::uint64_t before = enter_read(attempt);
      auto answer = reader(std::as_const(*state_));
      if (left_unchanged(before, attempt)) return answer;
    }
  }

  /// Calls `change(State&)` alone among all writers, and publishes it as one change. no_permission
  /// unless opened for writing; `change` may return void only. Any thread, but not from a reader.
  template <typename Change>
  [[nodiscard]] Result<void> write(Change&& change) {
    auto begun = begin_write();
    if (!begun) return begun;
    change(*state_);
    return end_write();
  }

  /// Sleeps until the generation is another one than `seen`, or `timeout_ns` is over.
  void wait_for_change(std::uint64_t seen, std::uint64_t timeout_ns) const;

  /// Rises by two with each change.
  [[nodiscard]] std::uint64_t generation() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  StateFile(std::string path, UniqueFd fd, State* state, Access access)
      : path_(std::move(path)), fd_(std::move(fd)), state_(state), access_(access) {}
  [[nodiscard]] std::uint64_t enter_read(int attempt) const;
  [[nodiscard]] bool left_unchanged(std::uint64_t before, int attempt) const;
  [[nodiscard]] Result<void> begin_write();
  [[nodiscard]] Result<void> end_write();

  std::string path_;
  UniqueFd fd_;
  State* state_ = nullptr;
  Access access_ = Access::read;
};

/// The state's monotonic and wall time: the machine's, unless frozen.
[[nodiscard]] std::uint64_t monotonic_ns(const Clock& clock);
[[nodiscard]] std::uint64_t wall_ns(const Clock& clock);

}  // namespace stoker::sim
