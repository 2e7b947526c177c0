#include "sample/disk_look.h"

#include <utility>

namespace stoker::sample {

DiskLook::DiskLook(std::shared_ptr<const os::Env> env, Question question)
    : env_(std::move(env)), question_(std::move(question)) {}

void DiskLook::ask() {
  if (asked_.is_open()) return;
  just_asked_ = true;
  asked_.ask([env = env_, question = question_] {
    const MonotonicTime asked_at = env->clock().monotonic();
    auto use = question(*env);
    return Answer{std::move(use), asked_at, env->clock().monotonic()};
  });
}

std::optional<DiskLook::Answer> DiskLook::take(Nanoseconds patience) {
  return asked_.take(std::exchange(just_asked_, false) ? patience : Nanoseconds{0});
}

}  // namespace stoker::sample
