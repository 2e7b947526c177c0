#include "device/sim/state_file.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

namespace stoker::sim {
namespace {

// A writer that died inside leaves the generation odd. Readers then go on after so many tries: what
// they see may be half a change, which the next writer repairs by publishing its own.
constexpr int patience = 200;

std::uint64_t load_generation(const State& state) {
  return __atomic_load_n(&state.header.generation, __ATOMIC_ACQUIRE);
}

// Orders the reads of the state before the second look at the generation. x86 keeps the order of
// loads; std::atomic_thread_fence is not known to ThreadSanitizer.
void read_barrier() {
#if defined(__aarch64__)
  asm volatile("dmb ishld" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

// Waiters sleep on the low half of the generation; that is the futex's word on a little-endian machine.
void* futex_word(State* state) { return &state->header.generation; }

Result<UniqueFd> open_fd(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!fd.valid()) return fail(Error::from_errno(errno, "open simulated driver's state " + path));
  return fd;
}

Result<std::uint64_t> size_of(const UniqueFd& fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(Error::from_errno(errno, "stat " + path));
  return static_cast<std::uint64_t>(info.st_size);
}

Result<State*> map(const UniqueFd& fd, const std::string& path, int protection) {
  void* address = ::mmap(nullptr, sizeof(State), protection, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) return fail(Error::from_errno(errno, "map " + path));
  return static_cast<State*>(address);
}

Result<void> check_header(const Header& header, const std::string& path) {
  if (header.magic != state_magic) {
    return fail(ErrorCode::corrupt, path + " is not a state of the simulated driver");
  }
  if (header.layout != state_layout || header.size != sizeof(State)) {
    return fail(ErrorCode::not_supported, path +
                                              " was written by another version of stoker (layout " +
                                              std::to_string(header.layout) + ", this one has " +
                                              std::to_string(state_layout) + "): make it anew");
  }
  return {};
}

std::uint64_t now_of(clockid_t id) {
  timespec time{};
  ::clock_gettime(id, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

std::string lock_path(const std::string& state_path) { return state_path + ".lock"; }

Result<StateFile> StateFile::create(const std::string& path) {
  if (auto lock = open_fd(lock_path(path), O_RDWR | O_CREAT); !lock) return fail(lock.error());
  if (auto there = open(path, Access::write)) {
    auto cleared = there->write([](State& state) {
      const Header header = state.header;
      state = State{};
      state.header = header;
    });
    if (!cleared) return fail(cleared.error());
    return there;
  }
  const std::string fresh = path + ".new";
  {
    auto fd = open_fd(fresh, O_RDWR | O_CREAT | O_TRUNC);
    if (!fd) return fail(fd.error());
    if (::ftruncate(fd->get(), sizeof(State)) != 0) {
      return fail(Error::from_errno(errno, "make " + fresh));
    }
    const Header header{state_magic, state_layout, sizeof(State), 0};
    if (::pwrite(fd->get(), &header, sizeof header, 0) != sizeof header) {
      return fail(Error::from_errno(errno, "write " + fresh));
    }
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    return fail(Error::from_errno(errno, "rename " + fresh + " to " + path));
  }
  return open(path, Access::write);
}

Result<StateFile> StateFile::open(const std::string& path, Access access) {
  auto fd = open_fd(path, access == Access::write ? O_RDWR : O_RDONLY);
  if (!fd) return fail(fd.error());
  const auto size = size_of(*fd, path);
  if (!size) return fail(size.error());
  if (*size < sizeof(Header)) {
    return fail(ErrorCode::corrupt, path + " is too short to be a state of the simulated driver");
  }
  Header header{};
  if (::pread(fd->get(), &header, sizeof header, 0) != sizeof header) {
    return fail(Error::from_errno(errno, "read " + path));
  }
  if (auto checked = check_header(header, path); !checked) return fail(checked.error());
  if (*size != sizeof(State)) {
    return fail(ErrorCode::corrupt, path + " holds " + std::to_string(*size) + " bytes, not the " +
                                        std::to_string(sizeof(State)) + " of a state");
  }
  auto state = map(*fd, path, access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ);
  if (!state) return fail(state.error());
  return StateFile(path, std::move(*fd), *state, access);
}

StateFile::StateFile(StateFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::move(other.fd_)),
      state_(std::exchange(other.state_, nullptr)),
      access_(other.access_) {}

StateFile& StateFile::operator=(StateFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(state_, other.state_);
  std::swap(access_, other.access_);
  return *this;
}

StateFile::~StateFile() {
  if (state_ != nullptr) ::munmap(state_, sizeof(State));
}

std::uint64_t StateFile::enter_read(int attempt) const {
  std::uint64_t generation = load_generation(*state_);
  while ((generation & 1U) != 0 && attempt < patience) {
    ::sched_yield();
    ++attempt;
    generation = load_generation(*state_);
  }
  read_barrier();
  return generation;
}

bool StateFile::left_unchanged(std::uint64_t before, int attempt) const {
  read_barrier();
  return load_generation(*state_) == before || attempt >= patience;
}

// flock keeps writers of other processes and of other StateFiles out; threads that share this one
// are kept apart by whoever owns it.
Result<void> StateFile::begin_write() {
  if (access_ != Access::write) {
    return fail(ErrorCode::no_permission, path_ + " is open for reading only");
  }
  while (::flock(fd_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail(Error::from_errno(errno, "lock " + path_));
  }
  const std::uint64_t odd = load_generation(*state_) | 1U;
  __atomic_exchange_n(&state_->header.generation, odd, __ATOMIC_ACQ_REL);
  return {};
}

Result<void> StateFile::end_write() {
  __atomic_fetch_add(&state_->header.generation, 1, __ATOMIC_RELEASE);
  ::syscall(SYS_futex, futex_word(state_), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  if (::flock(fd_.get(), LOCK_UN) != 0) return fail(Error::from_errno(errno, "unlock " + path_));
  return {};
}

void StateFile::wait_for_change(std::uint64_t seen, std::uint64_t timeout_ns) const {
  const timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000U),
                         static_cast<long>(timeout_ns % 1'000'000'000U)};
  const auto low = static_cast<std::uint32_t>(seen);
  // Not FUTEX_PRIVATE: who wakes is another process. Any error is a wake-up for nothing, but a
  // kernel that refuses at once would make callers spin, hence the short sleep.
  if (::syscall(SYS_futex, futex_word(state_), FUTEX_WAIT, low, &timeout, nullptr, 0) != 0 &&
      errno != EAGAIN && errno != ETIMEDOUT && errno != EINTR) {
    ::usleep(10'000);
  }
}

std::uint64_t StateFile::generation() const { return load_generation(*state_); }

std::uint64_t monotonic_ns(const Clock& clock) {
  return clock.frozen_monotonic_ns != 0 ? clock.frozen_monotonic_ns : now_of(CLOCK_MONOTONIC);
}

std::uint64_t wall_ns(const Clock& clock) {
  return clock.frozen_wall_ns != 0 ? clock.frozen_wall_ns : now_of(CLOCK_REALTIME);
}

}  // namespace stoker::sim
