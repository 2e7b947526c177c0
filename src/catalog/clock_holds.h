// Catalogue: what may hold a GPU's clocks down: the bits of the field throttle_reasons, nvml.h's nvmlClocksEventReasons
// (https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stoker {

struct ClockHold {
  std::uint64_t bit;
  std::string_view name;
  bool is_fault;  // not what a card does on its own under a full load
};

inline constexpr std::uint64_t held_by_power_cap = 0x4;
inline constexpr std::uint64_t held_by_power_brake = 0x80;

inline constexpr auto clock_holds =
    std::to_array<ClockHold>({{0x1, "idle", false},
                              {0x2, "application clocks setting", false},
                              {held_by_power_cap, "software power cap", false},
                              {0x8, "hardware slowdown", true},
                              {0x10, "sync boost", false},
                              {0x20, "software thermal slowdown", true},
                              {0x40, "hardware thermal slowdown", true},
                              {held_by_power_brake, "hardware power brake", true},
                              {0x100, "display clock setting", false}});

}  // namespace stoker
