// Device stage, tests: an NVML of plain functions. It has one card, and a test replaces the
// functions that it is about; everything else is missing, as in an old library.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "device/nvml/open_all_test_support.h"
#include "device/nvml/open_driver.h"

namespace stoker::nvml::fake {

using abi::Device;
using abi::Return;

// What the fake functions answer; a test changes it, and each test starts anew.
struct World {
  std::string driver_version = "580.159.04";
  unsigned gpus = 1;
  Return init = Return::success;
  Return handle = Return::success;
  unsigned init_flags = 0;
  int shutdowns = 0;
};
inline World world;

inline Device device_at(unsigned index) {
  return reinterpret_cast<Device>(static_cast<std::uintptr_t>(0x1000 + index));
}
inline unsigned index_of(Device device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device) - 0x1000);
}
inline Return copy(std::string_view text, char* to, unsigned length) {
  if (text.size() >= length) return Return::insufficient_size;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return Return::success;
}

// Only what a library must have.
inline Library library() {
  world = World{};
  Library made;
  made.path = "a fake library";
  abi::Functions& nvml = made.functions;
  nvml.nvmlInit_v2 = [] { return world.init; };
  nvml.nvmlInitWithFlags = [](unsigned flags) {
    world.init_flags = flags;
    return world.init;
  };
  nvml.nvmlShutdown = [] {
    ++world.shutdowns;
    return Return::success;
  };
  nvml.nvmlErrorString = [](Return) -> const char* { return "an error text"; };
  nvml.nvmlSystemGetDriverVersion = [](char* text, unsigned length) {
    return copy(world.driver_version, text, length);
  };
  nvml.nvmlSystemGetNVMLVersion = [](char* text, unsigned length) {
    return copy("13." + world.driver_version, text, length);
  };
  nvml.nvmlDeviceGetCount_v2 = [](unsigned* count) {
    *count = world.gpus;
    return Return::success;
  };
  nvml.nvmlDeviceGetHandleByIndex_v2 = [](unsigned index, Device* device) {
    *device = device_at(index);
    return world.handle;
  };
  nvml.nvmlDeviceGetHandleByPciBusId_v2 = [](const char* id, Device* device) {
    const auto pci = PciAddress::parse(id);
    if (!pci.has_value() || pci->bus >= world.gpus) return Return::not_found;
    *device = device_at(pci->bus);
    return world.handle;
  };
  nvml.nvmlDeviceGetName = [](Device, char* text, unsigned length) {
    return copy("NVIDIA H100 80GB HBM3", text, length);
  };
  nvml.nvmlDeviceGetUUID = [](Device device, char* text, unsigned length) {
    return copy("GPU-" + std::to_string(index_of(device)), text, length);
  };
  nvml.nvmlDeviceGetPciInfo_v3 = [](Device device, abi::PciInfo* pci) {
    *pci = {};
    pci->bus = index_of(device);
    return Return::success;
  };
  nvml.nvmlDeviceGetArchitecture = [](Device, abi::Architecture* architecture) {
    *architecture = abi::Architecture::hopper;
    return Return::success;
  };
  return made;
}

// A driver on that library with its GPUs open; members go in reverse, so they before it.
struct Opened {
  std::unique_ptr<Driver> driver;
  OpenedGpus gpus;

  [[nodiscard]] device::Gpu& gpu(std::size_t index = 0) const { return *gpus.gpus.at(index); }
};

inline Opened open(Library library, DriverOptions options = {}) {
  auto driver = open_driver(std::move(library), options);
  EXPECT_TRUE(driver.has_value()) << (driver.has_value() ? "" : driver.error().text);
  if (!driver.has_value()) return {};
  OpenedGpus gpus = open_all(**driver);
  return {std::move(*driver), std::move(gpus)};
}

// One field of the whole GPU (or of `target`); fails the test where nothing is told of it.
inline Reading read(device::Gpu& gpu, FieldId id, device::Target target = {}) {
  std::vector<device::TargetReading> out;
  gpu.read(field(id).getter, {&field(id)}, out);
  for (const device::TargetReading& told : out) {
    if (told.field == id && told.target == target) return told.reading;
  }
  ADD_FAILURE() << "nothing told of " << field(id).name;
  return {};
}

}  // namespace stoker::nvml::fake
