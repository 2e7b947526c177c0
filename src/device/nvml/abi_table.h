// Which struct, of which version and size, each NVML function fills in which driver: one row for
// every layout that a driver branch from 450 on has had. Stage: device. The reader checks it at
// start against the library that it opened; the simulated library presents any driver of it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stoker::nvml {

/// A driver's version: 580.159.04 is {580, 159, 4}. A branch alone is {580}, its first driver.
struct DriverVersion {
  int branch = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const DriverVersion&) const = default;
};

/// Later than every driver: the end of a row that still holds.
inline constexpr DriverVersion newest_driver{9999, 999, 999};

/// Reads "580.159.04" and "535.98"; nothing else.
[[nodiscard]] std::optional<DriverVersion> parse_driver_version(std::string_view text);

struct AbiRow {
  std::string_view symbol;
  std::string_view structure;  ///< our name, in namespace abi
  int version = 0;             ///< the struct's own; 0 where the symbol has never had another
  std::uint32_t tag = 0;       ///< what its `version` field must hold; 0: it has no such field
  std::uint32_t size = 0;      ///< bytes; of one entry, where the function fills an array
  DriverVersion first;
  DriverVersion last = newest_driver;  ///< inclusive
  std::string_view source;             ///< where we know it from
};

/// All rows; those of one symbol stand together, and those of one version of it don't overlap.
[[nodiscard]] std::span<const AbiRow> abi_table();

/// The newest version's row of `symbol` in that driver; null: the driver doesn't export the symbol,
/// or the table doesn't know what it fills, and in both cases it must not be called.
/// Not for symbols outside the table: those take plain numbers and strings.
[[nodiscard]] const AbiRow* row_for(std::string_view symbol, DriverVersion driver);

/// The same for one version of the struct.
[[nodiscard]] const AbiRow* row_for(std::string_view symbol, int version, DriverVersion driver);

/// The driver branch that came with the CUDA toolkit of a header: "12.8" -> 570. Every "(12.8)" in
/// this folder means "since that branch". From the release notes of each toolkit.
[[nodiscard]] std::optional<int> branch_of_header(std::string_view header);

}  // namespace stoker::nvml
