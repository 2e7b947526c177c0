// Sample stage, agent side: asks how full one file system is, in a thread of its own for each question,
// since a network file system may not answer for minutes, or ever, and its caller can't be woken.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "os/env.h"
#include "sample/asked.h"

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

  // Asks, unless the last question has no answer yet.
  void ask();
  // The answer, once; waits for it as long as `patience` if it was asked since the last take().
  std::optional<Answer> take(Nanoseconds patience);

 private:
  const std::shared_ptr<const os::Env> env_;
  const Question question_;
  bool just_asked_ = false;
  Asked<Answer> asked_;
};

}  // namespace stoker::sample
