// Test support: random events of every kind, and recordings in a folder of their own.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "device/record/codec.h"
#include "device/record/file.h"

namespace stoker::device::record {

// An Event as bytes: equal events have equal ones.
inline std::string bytes_of(const Event& event) {
  Encoder encoder;
  EXPECT_TRUE(encoder.add(event));
  return encoder.take_block();
}

inline std::string read_all_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_all_to(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class Folder {
 public:
  Folder() {
    std::string name = ::testing::TempDir() + "stoker-record-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline PciAddress some_gpu(unsigned number) {
  return {number / 4 * 0x10000, static_cast<std::uint8_t>(0x18 + number), 3, 1};
}

inline std::string random_text() {
  return *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
}

inline Reading random_reading() {
  Reading reading;
  reading.reason = static_cast<Reason>(*rc::gen::inRange(0, 11));
  switch (*rc::gen::inRange(0, 4)) {
    case 0: reading.value = *rc::gen::arbitrary<std::int64_t>(); break;
    case 1: reading.value = static_cast<double>(*rc::gen::inRange(-9'000, 900'000)) / 1000; break;
    case 2: reading.value = *rc::gen::arbitrary<double>(); break;
    default: reading.value = *rc::gen::element(-0.0, 0.0, 1e300, 9e9, 1.0 / 3, 0.0005); break;
  }
  reading.taken_at.since_boot = Nanoseconds(*rc::gen::arbitrary<std::int64_t>());
  reading.took = Nanoseconds(*rc::gen::arbitrary<std::int64_t>());
  return reading;
}

inline TargetReading random_target_reading() {
  return {{static_cast<EntityKind>(*rc::gen::inRange(1, 4)), *rc::gen::inRange(0U, 3U)},
          static_cast<FieldId>(*rc::gen::inRange<std::size_t>(0, field_count)),
          random_reading()};
}

template <typename Make>
auto some(Make make, int most = 5) {
  std::vector<decltype(make())> all;
  for (int left = *rc::gen::inRange(0, most); left > 0; --left) all.push_back(make());
  return all;
}

inline GpuInfo random_gpu() {
  GpuInfo gpu;
  gpu.index = *rc::gen::arbitrary<std::uint32_t>();
  gpu.pci = some_gpu(*rc::gen::inRange(0U, 8U));
  gpu.uuid = random_text();
  gpu.serial = random_text();
  gpu.numa_node = *rc::gen::arbitrary<int>();
  gpu.memory_bytes = *rc::gen::arbitrary<std::uint64_t>();
  gpu.power_limit_max_watts = *rc::gen::arbitrary<double>();
  gpu.gpm = *rc::gen::arbitrary<bool>();
  gpu.migs = some([] { return MigInfo{.uuid = random_text(), .profile = "1g.10gb"}; });
  gpu.nvlinks = some([] {
    return NvLinkInfo{.link = *rc::gen::arbitrary<std::uint32_t>(),
                      .remote = static_cast<LinkEnd>(*rc::gen::inRange(0, 4))};
  });
  return gpu;
}

inline CallCost random_cost() {
  const auto time = [] { return Nanoseconds(*rc::gen::arbitrary<std::int64_t>()); };
  return {.getter = static_cast<Getter>(*rc::gen::inRange(0, static_cast<int>(Getter::count_))),
          .calls = *rc::gen::arbitrary<std::uint64_t>(),
          .total = time(),
          .longest = time(),
          .last = time()};
}

inline NodeDevices random_devices() {
  NodeDevices devices;
  PciPlace place{.path = {.root_bus = 7, .bridges = {some_gpu(1)}, .device = some_gpu(2)},
                 .numa_node = *rc::gen::inRange(-1, 2),
                 .local_cpus = random_text()};
  if (*rc::gen::arbitrary<bool>()) devices.gpus.emplace(some_gpu(3), place);
  devices.nics = some([&] {
    NicInfo nic{.name = random_text(), .link_layer = "Ethernet"};
    if (*rc::gen::arbitrary<bool>()) nic.pci = some_gpu(4);
    if (*rc::gen::arbitrary<bool>()) nic.place = place;
    if (*rc::gen::arbitrary<bool>()) nic.rate_gbps = *rc::gen::arbitrary<double>();
    return nic;
  });
  devices.nics_problem = random_text();
  return devices;
}

inline What random_what() {
  const PciAddress gpu = some_gpu(*rc::gen::inRange(0U, 8U));
  const auto time = [] { return Nanoseconds(*rc::gen::arbitrary<std::int64_t>()); };
  switch (*rc::gen::inRange(0, 12)) {
    case 0: return WallTold{{time()}};
    case 1:
      return StatusTold{{.state = static_cast<SourceState>(*rc::gen::inRange(0, 9)),
                         .detail = random_text(),
                         .probe_pid = *rc::gen::arbitrary<int>(),
                         .restarts = *rc::gen::arbitrary<std::uint64_t>(),
                         .since = {time()}}};
    case 2: return DriverSeen{{.driver_version = random_text(), .abi_notes = some(random_text)}};
    case 3: return InventorySeen{some(random_gpu)};
    case 4:
      return NodeReadings{some([] {
        const auto reading = random_target_reading();
        return std::pair(reading.field, reading.reading);
      })};
    case 5:
      return ProcessesTold{gpu, random_reading(), some([] {
                             return ProcessInfo{.pid = *rc::gen::arbitrary<std::uint32_t>(),
                                                .compute = *rc::gen::arbitrary<bool>(),
                                                .name = random_text()};
                           })};
    case 6: return StateTold{gpu, static_cast<GpuState>(*rc::gen::inRange(0, 3)), random_text()};
    case 7: return CostsTold{gpu, some(random_cost)};
    case 8: return XidTold{gpu, *rc::gen::arbitrary<std::uint32_t>(), {time()}};
    case 9: return NodeCosts{some(random_cost)};
    case 10: return DevicesSeen{random_devices()};
    default: return ReadingsTold{gpu, some(random_target_reading, 20)};
  }
}

// A recording's events: Begin first, times that do not fall.
inline std::vector<Event> random_events(int most) {
  MonotonicTime now{Seconds(*rc::gen::inRange(1, 1'000'000))};
  std::vector<Event> events = {{now, Begin{.wall = {Seconds(1'700'000'000)},
                                           .hostname = random_text(),
                                           .periods = {Seconds(1)}}}};
  for (int left = *rc::gen::inRange(0, most); left > 0; --left) {
    now = now + Nanoseconds(*rc::gen::inRange<std::int64_t>(0, 5'000'000'000));
    events.push_back({now, random_what()});
  }
  return events;
}

// A recording of `events`, a block ended after each event for which `cut` says so.
template <typename Cut>
std::string recording_of(const std::vector<Event>& events, Cut cut) {
  Encoder encoder;
  std::string bytes(magic);
  for (const Event& event : events) {
    EXPECT_TRUE(encoder.add(event));
    if (cut() || &event == &events.back()) bytes += make_frame(encoder.take_block(), event.told);
  }
  return bytes;
}

// What is read of the recording at `path`, up to its end.
inline std::vector<Event> events_of(FileReader& reader) {
  std::vector<Event> events;
  while (true) {
    auto event = reader.next();
    EXPECT_TRUE(event) << event.error().describe();
    if (!event || !*event) return events;
    events.push_back(std::move(**event));
  }
}

inline std::vector<std::string> bytes_of(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) all.push_back(bytes_of(event));
  return all;
}

}  // namespace stoker::device::record
