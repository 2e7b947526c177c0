// Catalogue: a version of NVIDIA's driver, 580.65.06 or only its branch.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stoker {

struct DriverVersion {
  std::array<std::uint32_t, 3> parts{};

  // "580", "580.65", "580.65.06"; what is left out is the newest there may be. nullopt: none of these.
  static std::optional<DriverVersion> parse(std::string_view text);
  friend auto operator<=>(const DriverVersion&, const DriverVersion&) = default;
};

}  // namespace stoker
