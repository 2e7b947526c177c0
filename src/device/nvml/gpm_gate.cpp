#include "device/nvml/gpm_gate.h"

#include <chrono>

namespace stoker::nvml {

void GpmGate::enter(bool alone) {
  const auto until = std::chrono::steady_clock::now() + patience_;
  mutex_.lock();
  while (!is_free(alone) && std::chrono::steady_clock::now() < until) {
    changed_.wait_until(mutex_, until);
  }
  ++(alone ? alone_ : together_);
  mutex_.unlock();
}

void GpmGate::leave(bool alone) {
  mutex_.lock();
  --(alone ? alone_ : together_);
  mutex_.unlock();
  changed_.notify_all();
}

}  // namespace stoker::nvml
