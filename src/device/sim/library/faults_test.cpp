#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "device/sim/library/library_test_support.h"

namespace stoker::sim {
namespace {

using std::chrono::milliseconds;
constexpr std::uint64_t millisecond_ns = 1'000'000;
// For a call that has to come back: long enough for any machine, however busy.
constexpr milliseconds patience{60'000};

class Faults : public LibraryTest {
 protected:
  static Fault on(std::uint32_t function, std::int32_t gpu) {
    Fault fault{};
    fault.function = function;
    fault.gpu = gpu;
    fault.code = keep_code;
    return fault;
  }
  // Runs `call` in a child and tells whether it came back within the time given; a child that did
  // not is ended.
  template <typename Call>
  static bool returns_within(milliseconds limit, Call call) {
    const pid_t child = ::fork();
    if (child == 0) {
      call();
      ::_exit(0);
    }
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
      if (::waitpid(child, nullptr, WNOHANG) == child) return true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return false;
  }
};

TEST_F(Faults, AnswerACodeForOneFunctionOfOneGpuAndLeaveTheRestAlone) {
  Fault fault = on(name_hash("nvmlDeviceGetPowerUsage"), 1);
  fault.code = static_cast<std::int32_t>(Return::unknown);
  state_.add_fault(fault);
  EXPECT_EQ(ask(device(1)), Return::unknown);
  EXPECT_EQ(ask(device(0)), Return::success);
  unsigned celsius = 0;
  EXPECT_EQ(nvml_.nvmlDeviceGetTemperature(device(1), nvml::abi::TemperatureSensor::gpu, &celsius),
            Return::success);
}

TEST_F(Faults, DelayACallAsleepAndNotSpinning) {
  Fault fault = on(every_function, 0);
  fault.delay_ns = 200 * millisecond_ns;
  const Device slow = device(0);
  state_.add_fault(fault);
  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_THREAD, &before);
  EXPECT_GE(time_of([&] { EXPECT_EQ(ask(slow), Return::success); }), milliseconds(200));
  ::getrusage(RUSAGE_THREAD, &after);
  EXPECT_GT(after.ru_nvcsw, before.ru_nvcsw) << "it never gave the processor away";
}

TEST_F(Faults, DelayNoOtherGpusCall) {
  Fault fault = on(name_hash("nvmlDeviceGetPowerUsage"), 0);
  fault.delay_ns = 3'600'000 * millisecond_ns;
  const Device fast = device(1);
  state_.add_fault(fault);
  EXPECT_EQ(ask(fast), Return::success);
}

TEST_F(Faults, HoldACallForEver) {
  Fault fault = on(name_hash("nvmlDeviceGetPowerUsage"), 0);
  fault.never_returns = 1;
  const Device one = device(0);
  const Device other = device(1);
  state_.add_fault(fault);
  EXPECT_FALSE(returns_within(milliseconds(300), [&] { ask(one); }));
  EXPECT_TRUE(returns_within(patience, [&] { ask(other); }));
}

TEST_F(Faults, HoldInitUnlessItLeavesGpusAlone) {
  Fault fault = on(every_function, 0);
  fault.never_returns = 1;
  state_.add_fault(fault);
  ASSERT_EQ(nvml_.nvmlShutdown(), Return::success);
  EXPECT_FALSE(returns_within(milliseconds(300), [&] { static_cast<void>(nvml_.nvmlInit_v2()); }));
  EXPECT_TRUE(returns_within(patience, [&] {
    static_cast<void>(nvml_.nvmlInitWithFlags(nvml::abi::init_flag_no_attach));
    Device healthy = nullptr;
    static_cast<void>(nvml_.nvmlDeviceGetHandleByPciBusId_v2("0000:11:00.0", &healthy));
    ask(healthy);
  }));
}

TEST_F(Faults, LetACallThatHangsStopEveryOtherUnderAGlobalLock) {
  change_driver([](Driver& driver) { driver.global_lock = 1; });
  const Device one = device(0);
  const Device other = device(1);
  EXPECT_TRUE(returns_within(patience, [&] { ask(other); }));
  Fault fault = on(name_hash("nvmlDeviceGetPowerUsage"), 0);
  fault.never_returns = 1;
  state_.add_fault(fault);
  const pid_t hung = ::fork();
  if (hung == 0) {
    ask(one);
    ::_exit(0);
  }
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_FALSE(returns_within(milliseconds(300), [&] { ask(other); }));
  ::kill(hung, SIGKILL);
  ::waitpid(hung, nullptr, 0);
  EXPECT_TRUE(returns_within(patience, [&] { ask(other); }));
}

TEST_F(Faults, ReadAFileFirstSoThatTheKernelMayHoldTheCall) {
  const std::string path = state_.folder() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Fault fault = on(name_hash("nvmlDeviceGetPowerUsage"), every_gpu);
  put_text(fault.read_path, path);
  const Device one = device(0);
  state_.add_fault(fault);
  EXPECT_FALSE(returns_within(milliseconds(300), [&] { ask(one); }));
  EXPECT_TRUE(returns_within(patience, [&] {
    const int writer = ::open(path.c_str(), O_RDWR);
    if (::write(writer, "x", 1) == 1) ask(one);
  }));
}

TEST_F(Faults, SleepAsLongAsCallsTookOnARealCard) {
  change_driver([](Driver& driver) { driver.cost_profile = CostProfile::captured; });
  const Device one = device(0);
  unsigned rate = 0;
  // 20.9 ms a direction, 69 ms for a checksum, 10.2 ms for field 272: captured on an H100.
  EXPECT_GE(time_of([&] {
              EXPECT_EQ(
                  nvml_.nvmlDeviceGetPcieThroughput(one, nvml::abi::PcieCounter::tx_bytes, &rate),
                  Return::success);
            }),
            milliseconds(20));
  nvml::abi::FieldValue field{};
  field.field_id = 272;
  EXPECT_GE(time_of([&] { static_cast<void>(nvml_.nvmlDeviceGetFieldValues(one, 1, &field)); }),
            milliseconds(10));
}

TEST_F(Faults, ReachCallsOnNoGpuOnlyByARowForEveryGpu) {
  unsigned gpus = 0;
  Fault fault = on(name_hash("nvmlDeviceGetCount_v2"), 0);
  fault.code = static_cast<std::int32_t>(Return::unknown);
  state_.add_fault(fault);
  EXPECT_EQ(nvml_.nvmlDeviceGetCount_v2(&gpus), Return::success);
  fault.gpu = every_gpu;
  state_.add_fault(fault);
  EXPECT_EQ(nvml_.nvmlDeviceGetCount_v2(&gpus), Return::unknown);
}

}  // namespace
}  // namespace stoker::sim
