// For tests: a state with a few GPUs shaped like an H100 80GB HBM3, small and complete, in a file of
// its own. Products as they are sold come from the catalogue; this is for mechanics.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "device/sim/load_model.h"
#include "device/sim/state_file.h"

namespace stoker::sim {

inline constexpr std::uint64_t test_now_ns = 1'000'000'000'000;
inline constexpr std::uint64_t test_wall_ns = 1'700'000'000'000'000'000;

template <std::size_t size>
void put_text(char (&field)[size], std::string_view text) {
  std::snprintf(field, size, "%.*s", static_cast<int>(text.size()), text.data());
}

inline void put_test_mig(MigFacts& mig) {
  mig.capable = 1;
  mig.max_devices = 7;
  mig.memory_slices = 8;
  struct Row {
    std::uint32_t number, id, slices, instances, sms, size, starts;
    std::uint64_t mib;
    const char* name;
  };
  // As `nvidia-smi mig -lgip` and `-lgipp` list them on an H100 80GB HBM3; `starts` are bits.
  constexpr Row rows[] = {
      {0x0, 19, 1, 7, 16, 1, 0x7F, 9984, "1g.10gb"},
      {0x7, 20, 1, 1, 16, 1, 0x7F, 9984, "1g.10gb+me"},
      {0x9, 15, 1, 4, 26, 2, 0x55, 20096, "1g.20gb"},
      {0x1, 14, 2, 3, 32, 2, 0x15, 20096, "2g.20gb"},
      {0x2, 9, 3, 2, 60, 4, 0x11, 40448, "3g.40gb"},
      {0x3, 5, 4, 1, 64, 4, 0x01, 40448, "4g.40gb"},
      {0x4, 0, 7, 1, 132, 8, 0x01, 81152, "7g.80gb"},
  };
  std::size_t next = 0;
  for (const Row& row : rows) {
    MigProfile& profile = mig.profiles[next++];
    profile.number = row.number;
    profile.id = row.id;
    profile.slices = row.slices;
    profile.instances = row.instances;
    profile.multiprocessors = row.sms;
    profile.copy_engines = row.slices;
    profile.memory_mib = row.mib;
    profile.placement_size = row.size;
    for (std::uint32_t start = 0; start < max_placements; ++start) {
      if (((row.starts >> start) & 1U) != 0) {
        profile.placement_start[profile.placement_count++] = start;
      }
    }
    put_text(profile.name, row.name);
    profile.compute[0] = {0x0, 0, 1, row.slices, 16, 0, {}};
    put_text(profile.compute[0].name, row.slices == 1 ? row.name : "1c." + std::string(row.name));
    if (row.slices > 1) {
      profile.compute[1] = {row.number, row.slices - 1, row.slices, 1, row.sms, 0, {}};
      put_text(profile.compute[1].name, row.name);
    }
  }
}

inline Gpu test_gpu(unsigned number) {
  Gpu gpu{};
  gpu.presence = Presence::present;
  put_text(gpu.identity.name, "NVIDIA H100 80GB HBM3");
  char uuid[64];
  std::snprintf(uuid, sizeof uuid, "GPU-000000a0-0000-4000-8000-%012x", number);
  put_text(gpu.identity.uuid, uuid);
  put_text(gpu.identity.serial, std::to_string(1650000000000 + number));
  gpu.identity.minor = number;
  gpu.identity.architecture = 9;
  gpu.identity.gpm_supported = 1;
  gpu.identity.numa_node = -1;
  gpu.identity.cpu_affinity[0] = 0xFF;
  gpu.identity.supported_event_types = 65439;
  gpu.pci.bus = 0x10 + number;
  gpu.pci.device_id = 0x233010DE;
  gpu.pci.generation = gpu.pci.max_generation = 5;
  gpu.pci.width = gpu.pci.max_width = 16;
  gpu.memory = {85520809984, 503316480, 0, 137438953472, 1703936, 5120, 0};
  gpu.clocks = {{345, 345, 2619, 765},
                {1980, 1980, 2619, 1545},
                {1980, 1980, 2619, 1545},
                {1980, 0, 0, 0},
                {1980, 1980, 2619, 0},
                {},
                0,
                0,
                1,
                0,
                {{2619, 345, 1980, 15}},
                511};
  gpu.power = {700000, 700000, 700000, 200000, 700000, 1, {}};
  gpu.thermal = {{95, 89, 95, 87, threshold_not_supported, threshold_not_supported,
                  threshold_not_supported, threshold_not_supported},
                 0,
                 0,
                 0,
                 0};
  gpu.ecc.mode = gpu.ecc.pending_mode = gpu.ecc.default_mode = 1;
  gpu.ecc.location_mask = 0x84;
  gpu.ecc.row_histogram[0] = 2560;
  gpu.envelope = {76000, 120000, 700000, 35, 58, 2, 2000, 0, 55'300'000'000, 450'000'000'000};
  gpu.modes.persistence = 1;
  gpu.link_count = 18;
  for (unsigned link = 0; link < gpu.link_count; ++link) {
    gpu.links[link] = {1, 1, 6, 2, 0xFFFFFFFF, 0xFF, 0xFF, 0xFFFFFFFF, 0x3F, 26562, {}};
  }
  put_test_mig(gpu.mig);
  settle(gpu, test_now_ns);
  return gpu;
}

/// A driver 580.159.04 with `count` GPUs at rest and standing clocks.
inline void fill_test_state(State& state, unsigned count) {
  state.clock = {test_now_ns, test_wall_ns};
  state.driver.loaded = 1;
  state.driver.cuda_version = 13000;
  put_text(state.driver.driver_version, "580.159.04");
  put_text(state.driver.nvml_version, "13.580.159.04");
  for (unsigned row = 0; row < count; ++row) {
    state.gpus[row] = test_gpu(row);
    for (unsigned other = 0; other < count; ++other) state.gpus[row].topology_level[other] = 50;
  }
}

/// A folder of its own with a test state in it, gone at the end.
class TestState {
 public:
  explicit TestState(unsigned gpus = 2) : folder_(make_folder()), file_(make_file(path())) {
    change([&](State& state) { fill_test_state(state, gpus); });
  }
  ~TestState() { std::filesystem::remove_all(folder_); }
  TestState(const TestState&) = delete;
  TestState& operator=(const TestState&) = delete;

  [[nodiscard]] std::string path() const { return folder_ + "/state"; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] StateFile& file() { return file_; }
  template <typename Change>
  void change(Change&& change) {
    if (!file_.write(change)) std::abort();
  }
  /// Adds a fault row; fill in what it does.
  void add_fault(const Fault& fault) {
    change([&](State& state) {
      for (Fault& row : state.faults) {
        if (row.used != 0) continue;
        row = fault;
        row.used = 1;
        return;
      }
    });
  }

 private:
  static std::string make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker_sim_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }
  static StateFile make_file(const std::string& path) {
    auto made = StateFile::create(path);
    if (!made) std::abort();
    return std::move(*made);
  }
  std::string folder_;
  StateFile file_;
};

}  // namespace stoker::sim
