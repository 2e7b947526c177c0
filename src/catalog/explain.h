// Catalogue: everything that it knows about one Xid or SXid, for people and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_text.h"
#include "catalog/driver_version.h"

namespace stoker {

// Text of at most `width` columns; nullopt: the number is not known, or not to this driver.
std::optional<std::string> explain_xid(std::uint64_t number,
                                       const std::optional<DriverVersion>& driver,
                                       std::size_t width);
std::optional<std::string> explain_sxid(std::uint64_t number, std::size_t width);

// The same as one object (docs/specs/events.md); false, and nothing written, where the text would be nullopt.
bool write_xid(JsonWriter& json, std::uint64_t number, const std::optional<DriverVersion>& driver);
bool write_sxid(JsonWriter& json, std::uint64_t number);

}  // namespace stoker
