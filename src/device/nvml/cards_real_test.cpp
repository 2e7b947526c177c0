// What this machine's own cards tell: every field is printed with its value or reason and its cost,
// and what every card since Volta tells must be there. Skipped where there is no driver.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <thread>

#include "device/nvml/driver.h"
#include "device/nvml/getters.h"
#include "device/nvml/open_all_test_support.h"

namespace stoker::nvml {
namespace {

using Told = std::map<std::pair<device::Target, FieldId>, Reading>;

std::string show(const Reading& reading) {
  if (!reading.ok()) return to_string(reading.reason);
  return fmt::format("{}", as_double(reading.value));
}

// One call for each getter and cost class, as the sampler makes them.
std::map<std::pair<Getter, CostClass>, Fields> calls() {
  std::map<std::pair<Getter, CostClass>, Fields> groups;
  for (const Field& field : all_fields()) {
    if (find_getter(field.getter) != nullptr) {
      groups[{field.getter, field.cost}].push_back(&field);
    }
  }
  return groups;
}

Told read_everything(device::Gpu& gpu) {
  Told told;
  for (const auto& [key, fields] : calls()) {
    Readings out;
    gpu.read(key.first, fields, out);
    for (const device::TargetReading& one : out) told[{one.target, one.field}] = one.reading;
  }
  return told;
}

void print(const device::GpuInfo& info) {
  fmt::print("GPU {} {} {} {} serial {} brand {} vbios {} part {} inforom {}\n", info.index,
             info.pci.sysfs(), info.uuid, info.name, info.serial, info.brand, info.vbios,
             info.board_part, info.inforom);
  fmt::print(
      "  {} cc {} minor {} numa {} cores {} memory {} B, C: slowdown {} shutdown {} memory {} "
      "operating {}\n",
      info.architecture, info.compute_capability, info.minor, info.numa_node, info.cores,
      info.memory_bytes, info.slowdown_celsius, info.shutdown_celsius, info.max_memory_celsius,
      info.max_operating_celsius);
  fmt::print("  W: {} to {}, default {}; MHz: SM {} memory {}; PCIe {} x{}; gpm {} mig {}\n",
             info.power_limit_min_watts, info.power_limit_max_watts, info.power_limit_default_watts,
             info.max_sm_clock_mhz, info.max_memory_clock_mhz, info.max_pcie_generation,
             info.max_pcie_width, info.gpm, info.mig_enabled);
  for (const device::MigInfo& mig : info.migs) {
    fmt::print("  mig {} {} gi {} ci {} {} B {} SMs\n", mig.uuid, mig.profile, mig.gpu_instance,
               mig.compute_instance, mig.memory_bytes, mig.multiprocessors);
  }
  for (const device::NvLinkInfo& link : info.nvlinks) {
    fmt::print("  nvlink {} version {} to {}\n", link.link, link.version,
               link.remote_pci.empty() ? "(hidden)" : link.remote_pci);
  }
}

void print(const Told& told) {
  for (const auto& [key, reading] : told) {
    fmt::print("  {:7} {:2} {:28} {:>20} {:>9.1f} us\n", to_string(key.first.kind),
               key.first.number, field(key.second).key(), show(reading),
               static_cast<double>(reading.took.count()) / 1000.0);
  }
}

class RealCards : public testing::Test {
 protected:
  void SetUp() override {
    auto driver = Driver::open({});
    if (!driver.has_value()) GTEST_SKIP() << driver.error().text;
    driver_ = std::move(*driver);
    if (driver_->info().simulated) GTEST_SKIP() << "the library in use is the simulated one";
    opened_ = open_all(*driver_);
  }

  std::unique_ptr<Driver> driver_;
  OpenedGpus opened_;
};

// What the sampler's decisions rest on: a call that is cheap in a tight loop may cost a thousand
// times more once a second, when what the driver keeps in memory has grown old.
struct Cost {
  std::vector<double> wall_us;
  double cpu_us = 0;
};

double thread_cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

TEST_F(RealCards, WithoutAttachOneIsOpenedByItsAddress) {
  if (opened_.gpus.empty()) GTEST_SKIP() << "no GPU is open";
  DriverOptions options;
  options.no_attach = true;
  options.only = {opened_.gpus.front()->info().pci};
  opened_.gpus.clear();
  driver_.reset();
  const auto driver = Driver::open(options);
  ASSERT_TRUE(driver.has_value()) << driver.error().text;
  const OpenedGpus opened = open_all(**driver);
  ASSERT_EQ(opened.gpus.size(), 1U);
  EXPECT_EQ(opened.gpus.front()->info().pci, options.only.front());
}

TEST_F(RealCards, WhatEachCallCostsOnceASecond) {
  if (opened_.gpus.empty()) GTEST_SKIP() << "no GPU is open";
  device::Gpu& gpu = *opened_.gpus.front();
  constexpr int rounds = 30;
  const auto groups = calls();
  std::map<std::pair<Getter, CostClass>, Cost> costs;
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [key, fields] : groups) {
      // The sampler's default periods in seconds.
      const int every = key.second == CostClass::firmware ? 15
                        : key.second == CostClass::gpm    ? 2
                        : key.second == CostClass::dear   ? 60
                        : key.second == CostClass::rare   ? 300
                                                          : 1;
      if (round % every != 0) continue;
      Readings out;
      const double cpu = thread_cpu_us();
      const MonotonicTime began = system_clock().monotonic();
      gpu.read(key.first, fields, out);
      const Nanoseconds took = system_clock().monotonic() - began;
      costs[key].cpu_us += thread_cpu_us() - cpu;
      costs[key].wall_us.push_back(static_cast<double>(took.count()) / 1000.0);
    }
    std::this_thread::sleep_for(Seconds(1));
  }
  for (auto& [key, cost] : costs) {
    std::ranges::sort(cost.wall_us);
    fmt::print("  {:9} {:24} wall median {:>8.1f} max {:>8.1f} us, CPU mean {:>8.1f} us\n",
               to_string(key.second), to_string(key.first), cost.wall_us[cost.wall_us.size() / 2],
               cost.wall_us.back(), cost.cpu_us / static_cast<double>(cost.wall_us.size()));
  }
}

TEST_F(RealCards, TellWhatEveryCardTells) {
  fmt::print("driver {} nvml {} cuda {}\n", driver_->info().driver_version,
             driver_->info().nvml_version, driver_->info().cuda_version);
  for (const std::string& note : driver_->info().abi_notes) fmt::print("  note: {}\n", note);
  for (const UnopenedGpu& gpu : opened_.unopened) fmt::print("  unopened: {}\n", gpu.text);
  ASSERT_FALSE(opened_.gpus.empty() && opened_.unopened.empty()) << "a driver without GPUs";
  EXPECT_TRUE(driver_->wait_xid_event(Milliseconds(10)).has_value());
  for (const auto& gpu : opened_.gpus) {
    print(gpu->info());
    std::this_thread::sleep_for(Milliseconds(300));  // two GPM samples need time between them
    const Told told = read_everything(*gpu);
    print(told);
    for (const FieldId id : {FieldId::temperature, FieldId::memory_total, FieldId::memory_used,
                             FieldId::sm_clock, FieldId::memory_clock, FieldId::last_xid}) {
      EXPECT_TRUE(told.at({device::Target{}, id}).ok()) << field(id).name;
    }
    for (const auto& [key, reading] : told) {
      EXPECT_NE(reading.reason, Reason::invalid) << field(key.second).name;
      EXPECT_NE(reading.reason, Reason::failed) << field(key.second).name;
    }
    std::vector<device::ProcessInfo> processes;
    const Reading listed = gpu->processes(processes);
    EXPECT_TRUE(listed.ok()) << to_string(listed.reason);
    for (const device::ProcessInfo& process : processes) {
      fmt::print("  pid {} {} {} B\n", process.pid, process.name, process.memory_bytes);
    }
    EXPECT_FALSE(gpu->refresh());
  }
}

}  // namespace
}  // namespace stoker::nvml
