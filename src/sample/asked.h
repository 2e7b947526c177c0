// Sample stage, agent side: a question to the kernel that may be answered after minutes, or never, in a thread of its own. Who is
// inside the kernel can't be woken: whoever asks waits as long as it likes, and leaves the thread behind then.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/thread_safety.h"

namespace stoker::sample {

// Not thread-safe: one asks and takes.
template <typename Answer>
class Asked {
 public:
  Asked() = default;
  // Waits for nobody. A thread that has no answer yet is detached: it shares nothing with the rest but what its question owns
  // a part of, and ends with the process.
  ~Asked() {
    if (!thread_.joinable()) return;
    shared_->mutex.lock();
    const bool answered = shared_->answer.has_value();
    shared_->mutex.unlock();
    if (answered)
      thread_.join();
    else
      thread_.detach();
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  // Is there a question whose answer was not taken?
  [[nodiscard]] bool is_open() const { return thread_.joinable(); }

  // Unless one is open. What the question needs it owns: it may outlive this.
  void ask(std::function<Answer()> question) {
    if (is_open()) return;
    thread_ = std::thread([question = std::move(question), shared = shared_] {
      auto answer = question();
      const MutexLock lock(shared->mutex);
      shared->answer.emplace(std::move(answer));
      shared->wake.notify_all();
    });
  }

  // The answer, once; waits for it as long as `patience`.
  std::optional<Answer> take(Nanoseconds patience) {
    if (!is_open()) return std::nullopt;
    const auto until = std::chrono::steady_clock::now() + patience;
    shared_->mutex.lock();
    while (!shared_->answer && std::chrono::steady_clock::now() < until) {
      shared_->wake.wait_until(shared_->mutex, until);
    }
    auto answer = std::exchange(shared_->answer, std::nullopt);
    shared_->mutex.unlock();
    if (answer) thread_.join();
    return answer;
  }

 private:
  struct Shared {
    Mutex mutex;
    CondVar wake;
    std::optional<Answer> answer GUARDED_BY(mutex);
  };

  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;  // joinable: a question is open
};

}  // namespace stoker::sample
