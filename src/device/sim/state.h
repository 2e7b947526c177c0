// Simulated driver: the state file. `stoker sim` writes it, libstoker_sim_nvml.so maps it and answers
// NVML calls from it. Layout only: state_file.h maps it and says when it may be read or written.
//
// Whoever changes a struct raises state_layout; the assertions below make sure that it is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device/sim/state_gpu.h"

namespace stoker::sim {

inline constexpr std::uint64_t state_magic = 0x314D49534B4F5453;  // "STOKSIM1", little endian
inline constexpr std::uint32_t state_layout = 1;
inline constexpr unsigned max_faults = 64;
inline constexpr unsigned max_events = 256;

struct Header {
  std::uint64_t magic;
  std::uint32_t layout;
  std::uint32_t size;        // of the whole file
  std::uint64_t generation;  // seqlock: odd while a writer is inside; +2 for each change
};

/// The time that the library lives in.
struct Clock {
  std::uint64_t frozen_monotonic_ns;  // 0: CLOCK_MONOTONIC; else this, for golden output
  std::uint64_t frozen_wall_ns;       // 0: CLOCK_REALTIME; else this
};

enum class CostProfile : std::uint32_t {
  free = 0,      ///< calls return at once
  captured = 1,  ///< calls sleep as long as they took on a real H100 (those of 20 us and more)
};

struct Driver {
  std::uint32_t loaded;
  std::int32_t init_code;           // 0, or what every nvmlInit answers (18: versions differ)
  std::uint32_t permission_denied;  // every init answers NO_PERMISSION
  std::uint32_t global_lock;  // all calls of all processes take one lock: one that hangs stops all
  std::uint32_t allow_unprivileged;  // calls that change the machine don't ask for root
  CostProfile cost_profile;
  std::int32_t cuda_version;  // 13000
  std::uint32_t load_count;   // raised with each load of the driver: clients of before get nothing
  char driver_version[80];    // "580.159.04": decides which functions and struct layouts there are
  char nvml_version[80];
};

/// What a fault leaves alone.
inline constexpr std::int32_t keep_code = INT32_MIN;
inline constexpr std::int32_t every_gpu = -1;
inline constexpr std::uint32_t every_function = 0;

/// A call that matches waits (delay, then path, then for ever), then answers `code`. Every wait
/// sleeps in the kernel. Of several rows that match, all their waits count and the last code.
struct Fault {
  std::uint32_t used;
  std::uint32_t function;  // name_hash of the symbol, or every_function
  std::int32_t gpu;        // row of State::gpus, or every_gpu (calls on no GPU match it only)
  std::int32_t code;       // an nvmlReturn, or keep_code
  std::uint64_t delay_ns;
  std::uint32_t never_returns;
  std::uint32_t reserved;
  char read_path
      [160];  // open and read one byte of it first: a FUSE file holds the call in the kernel
};

struct Event {
  std::uint64_t sequence;  // 1, 2, 3...; of slot (sequence - 1) % max_events
  std::uint64_t type;      // one bit of NVML's event types
  std::uint64_t data;      // the Xid
  std::uint32_t gpu;       // row of State::gpus
  std::uint32_t gpu_instance;
  std::uint32_t compute_instance;
  std::uint32_t reserved;
};

struct State {
  Header header;
  Clock clock;
  Driver driver;
  std::uint64_t last_event;  // sequence of the newest event; 0: none yet
  Event events[max_events];
  Fault faults[max_faults];
  Gpu gpus[max_gpus];
};

static_assert(std::is_trivially_copyable_v<State> && std::is_standard_layout_v<State>);
static_assert(sizeof(Header) == 24 && sizeof(Clock) == 16 && sizeof(Driver) == 192);
static_assert(sizeof(Fault) == 192 && sizeof(Event) == 40);
static_assert(sizeof(Load) == 64 && sizeof(Envelope) == 48 && sizeof(Disturbance) == 24);
static_assert(sizeof(LinkFacts) == 80 && sizeof(Process) == 128 && sizeof(FieldRow) == 24);
static_assert(sizeof(Identity) == 712 && sizeof(EccFacts) == 952 && sizeof(MigFacts) == 16456);
static_assert(sizeof(Gpu) == 35192 && sizeof(State) == 585840);
static_assert(offsetof(State, driver) == 40 && offsetof(State, last_event) == 232);

}  // namespace stoker::sim
