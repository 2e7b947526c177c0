#include "sample/disk_look.h"

#include <utility>

#include "base/thread_safety.h"

namespace stoker::sample {

struct DiskLook::Shared {
  Mutex mutex;
  CondVar wake;
  std::optional<Answer> answer GUARDED_BY(mutex);
};

DiskLook::DiskLook(std::shared_ptr<const os::Env> env, Question question)
    : env_(std::move(env)), question_(std::move(question)), shared_(std::make_shared<Shared>()) {}

// The one detached thread of the agent: it is inside the kernel, so it can't be joined, and it shares
// nothing with the rest but what it owns a part of. It ends with the process.
DiskLook::~DiskLook() {
  if (!thread_.joinable()) return;
  shared_->mutex.lock();
  const bool answered = shared_->answer.has_value();
  shared_->mutex.unlock();
  if (answered) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void DiskLook::ask() {
  if (thread_.joinable()) return;
  just_asked_ = true;
  thread_ = std::thread([env = env_, question = question_, shared = shared_] {
    const MonotonicTime asked_at = env->clock().monotonic();
    auto use = question(*env);
    const MonotonicTime at = env->clock().monotonic();
    const MutexLock lock(shared->mutex);
    shared->answer.emplace(Answer{std::move(use), asked_at, at});
    shared->wake.notify_all();
  });
}

std::optional<DiskLook::Answer> DiskLook::take(Nanoseconds patience) {
  if (!thread_.joinable()) return std::nullopt;
  const auto until = std::chrono::steady_clock::now() +
                     (std::exchange(just_asked_, false) ? patience : Nanoseconds{0});
  std::optional<Answer> answer;
  shared_->mutex.lock();
  while (!shared_->answer && std::chrono::steady_clock::now() < until) {
    shared_->wake.wait_until(shared_->mutex, until);
  }
  answer = std::exchange(shared_->answer, std::nullopt);
  shared_->mutex.unlock();
  if (answer) thread_.join();
  return answer;
}

}  // namespace stoker::sample
