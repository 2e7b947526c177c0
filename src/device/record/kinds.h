// Device stage: what the kinds of records are called in the file. A name is for good.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <variant>

#include "device/record/event.h"

namespace stoker::device::record {

inline constexpr std::string_view series_kind = "series";
// In the order of the alternatives of What.
inline constexpr std::array<std::string_view, std::variant_size_v<What>> kinds = {
    "begin",     "wall",  "status", "driver",        "inventory",  "readings", "processes",
    "gpu_state", "costs", "xid",    "node_readings", "node_costs", "devices",  "end"};

inline std::string_view kind_of(const What& what) { return kinds.at(what.index()); }

// What() of the kind that is called so; none for one of another build.
template <std::size_t n = 0>
std::optional<What> empty_of(std::string_view kind) {
  if constexpr (n < kinds.size()) {
    if (kind == kinds[n]) return What(std::in_place_index<n>);
    return empty_of<n + 1>(kind);
  }
  return std::nullopt;
}

}  // namespace stoker::device::record
