// Device stage: what NVML's return codes mean to us, for one reading and for the driver as a whole;
// and one timed call.
#pragma once

#include <optional>

#include "base/clock.h"
#include "device/call_slot.h"
#include "device/nvml/driver.h"
#include "device/nvml/enums.h"
#include "model/reading.h"

namespace stoker::nvml {

// Why a call with this code gives no reading; `ok` for success. A code that we don't know is failed.
Reason reason_of(abi::Return code);

// What a person should know and do when NVML doesn't start.
DriverFailure start_failure(abi::Return code, const std::string& code_text,
                            const std::string& library);

// True where the driver as a whole is gone: no other GPU will do better.
bool driver_is_gone(abi::Return code);

// How one call went.
struct Called {
  abi::Return code = abi::Return::function_not_found;
  MonotonicTime at;  // when it returned
  Nanoseconds took{0};

  [[nodiscard]] bool ok() const { return code == abi::Return::success; }
  [[nodiscard]] Reading none() const { return Reading::none(reason_of(code), at, took); }
  [[nodiscard]] Reading none(Reason reason) const { return Reading::none(reason, at, took); }
  template <typename T>
  [[nodiscard]] Reading value(T value) const {
    return Reading::of(value, at, took);
  }
};

// Calls `function`, says so to the thread that watches for calls that don't return, and takes the time;
// a null one is "function not found", and costs nothing. Every call on a GPU goes through here.
template <typename... Parameters, typename... Arguments>
Called timed(const Clock& clock, abi::Return (*function)(Parameters...), Arguments... arguments) {
  const MonotonicTime before = clock.monotonic();
  if (function == nullptr) return {abi::Return::function_not_found, before, Nanoseconds{0}};
  device::InCall::next_call(before);
  const abi::Return code = function(arguments...);
  const MonotonicTime after = clock.monotonic();
  return {code, after, after - before};
}

}  // namespace stoker::nvml
