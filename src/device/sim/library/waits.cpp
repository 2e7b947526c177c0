#include "device/sim/library/waits.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "device/sim/library/costs.h"

namespace stoker::sim {
namespace {

bool matches(const Fault& fault, const Function& function, std::int32_t gpu) {
  return fault.used != 0 && (fault.function == every_function || fault.function == function.hash) &&
         (fault.gpu == every_gpu || fault.gpu == gpu);
}

void sleep_ns(std::uint64_t duration) {
  timespec left{static_cast<time_t>(duration / 1'000'000'000U),
                static_cast<long>(duration % 1'000'000'000U)};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

[[noreturn]] void sleep_for_ever() {
  for (;;) ::pause();
}

void read_one_byte(const char* path) {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  char byte = 0;
  if (fd.valid()) {
    [[maybe_unused]] const ssize_t got = ::read(fd.get(), &byte, 1);
  }
}

// A file beside the state, not the state itself: writers of the state must get through meanwhile.
// A descriptor of its own for each call keeps threads of one process apart, too.
UniqueFd take_global_lock(const std::string& state_path) {
  UniqueFd fd(::open(lock_path(state_path).c_str(), O_RDONLY | O_CLOEXEC));
  while (fd.valid() && ::flock(fd.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return fd;
}

}  // namespace

Orders orders_for(const State& state, const Function& function, std::int32_t gpu) {
  Orders orders;
  orders.global_lock = state.driver.global_lock != 0;
  if (state.driver.cost_profile == CostProfile::captured) orders.cost_ns = cost_of(function);
  for (const Fault& fault : state.faults) {
    if (!matches(fault, function, gpu)) continue;
    orders.delay_ns += fault.delay_ns;
    orders.never_returns |= fault.never_returns != 0;
    if (fault.code != keep_code) orders.code = fault.code;
    if (fault.read_path[0] != '\0') {
      std::memcpy(orders.read_path.data(), fault.read_path, sizeof fault.read_path);
    }
  }
  return orders;
}

UniqueFd obey(const Orders& orders, const std::string& state_path) {
  UniqueFd lock;
  if (orders.global_lock) lock = take_global_lock(state_path);
  if (orders.delay_ns + orders.cost_ns > 0) sleep_ns(orders.delay_ns + orders.cost_ns);
  if (orders.read_path[0] != '\0') read_one_byte(orders.read_path.data());
  if (orders.never_returns) sleep_for_ever();
  return lock;
}

}  // namespace stoker::sim
