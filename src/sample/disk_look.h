// Sample stage, agent side: asks how full one file system is, in a thread of its own for each question,
// since a network file system may not answer for minutes, or ever, and its caller can't be woken.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "os/env.h"

namespace stoker::sample {

class DiskLook {
 public:
  struct Answer {
    Result<os::FilesystemUse> use;
    MonotonicTime asked_at;
    MonotonicTime at;
  };

  // Called in a thread of its own, with an Env that lives as long.
  using Question = std::function<Result<os::FilesystemUse>(const os::Env&)>;

  DiskLook(std::shared_ptr<const os::Env> env, Question question);
  // Waits for nobody: a question without an answer is left behind, with all that it needs.
  ~DiskLook();
  DiskLook(const DiskLook&) = delete;
  DiskLook& operator=(const DiskLook&) = delete;

  // Asks, unless the last question has no answer yet.
  void ask();
  // The answer, once; waits for it as long as `patience` if it was asked since the last take().
  std::optional<Answer> take(Nanoseconds patience);

 private:
  struct Shared;

  const std::shared_ptr<const os::Env> env_;
  const Question question_;
  std::shared_ptr<Shared> shared_;
  bool just_asked_ = false;
  std::thread thread_;  // joinable: a question is open, or its answer not taken
};

}  // namespace stoker::sample
