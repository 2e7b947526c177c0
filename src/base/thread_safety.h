// Ground stage: names for clang's thread-safety analysis (-Wthread-safety, an error in CI), and the
// annotated Mutex that it can follow. Other compilers see plain std::mutex.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define STOKER_TS(x) __attribute__((x))
#else
#define STOKER_TS(x)
#endif

#define GUARDED_BY(m) STOKER_TS(guarded_by(m))
#define REQUIRES(...) STOKER_TS(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) STOKER_TS(locks_excluded(__VA_ARGS__))

namespace stoker {

class STOKER_TS(capability("mutex")) Mutex {
 public:
  void lock() STOKER_TS(acquire_capability()) { mutex_.lock(); }
  void unlock() STOKER_TS(release_capability()) { mutex_.unlock(); }
  bool try_lock() STOKER_TS(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

class STOKER_TS(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) STOKER_TS(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() STOKER_TS(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits on a Mutex (std::condition_variable_any takes any lockable).
using CondVar = std::condition_variable_any;

}  // namespace stoker
