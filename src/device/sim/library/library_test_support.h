// For tests of the simulated library: it is opened as any program opens NVML, and called through
// pointers that carry the prototypes of functions.def.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "device/nvml/functions.h"
#include "device/sim/state_test_support.h"

namespace stoker::sim {

/// Every function that the library exports. One library a process, as for NVML's users.
inline const nvml::abi::Functions& nvml_functions() {
  static const nvml::abi::Functions functions = [] {
    void* library = ::dlopen(STOKER_BINARY_DIR "/lib/libstoker_sim_nvml.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", ::dlerror());
      std::abort();
    }
    nvml::abi::Functions all;
    for (const nvml::abi::FunctionRow& row : nvml::abi::function_rows()) {
      void* symbol = ::dlsym(library, row.symbol.data());
      std::memcpy(reinterpret_cast<char*>(&all) + row.offset, &symbol, sizeof symbol);
    }
    return all;
  }();
  return functions;
}

/// A state of its own, and a library that is started on it.
class LibraryTest : public testing::Test {
 protected:
  using Return = nvml::abi::Return;
  using Device = nvml::abi::Device;

  explicit LibraryTest(unsigned gpus = 2) : state_(gpus) {
    ::setenv(state_path_variable, state_.path().c_str(), 1);
  }
  void SetUp() override { ASSERT_EQ(nvml_.nvmlInit_v2(), Return::success); }
  void TearDown() override {
    while (nvml_.nvmlShutdown() == Return::success) {
    }
  }
  Device device(unsigned index = 0) {
    Device found = nullptr;
    EXPECT_EQ(nvml_.nvmlDeviceGetHandleByIndex_v2(index, &found), Return::success);
    return found;
  }
  /// What one simple call answers now: a probe of the gate.
  Return ask(Device one) {
    unsigned milliwatts = 0;
    return nvml_.nvmlDeviceGetPowerUsage(one, &milliwatts);
  }
  void change_driver(void (*change)(Driver&)) {
    state_.change([&](State& all) { change(all.driver); });
  }

  TestState state_;
  const nvml::abi::Functions& nvml_ = nvml_functions();
};

/// What `call` answers in a process without root's rights.
template <typename Call>
nvml::abi::Return answer_to_nobody(Call call) {
  constexpr uid_t nobody = 65534;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) ::_exit(255);
    ::_exit(static_cast<int>(call()));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return static_cast<nvml::abi::Return>(WIFEXITED(status) ? WEXITSTATUS(status) : 254);
}

/// How long a call takes.
template <typename Call>
std::chrono::milliseconds time_of(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin);
}

}  // namespace stoker::sim
