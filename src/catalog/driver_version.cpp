#include "catalog/driver_version.h"

#include <limits>

#include "base/text.h"

namespace stoker {

std::optional<DriverVersion> DriverVersion::parse(std::string_view text) {
  DriverVersion version;
  version.parts.fill(std::numeric_limits<std::uint32_t>::max());
  for (auto& part : version.parts) {
    const auto dot = text.find('.');
    const auto number = whole_number<std::uint32_t>(text.substr(0, dot));
    if (!number) return std::nullopt;
    part = *number;
    if (dot == std::string_view::npos) return version;
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

}  // namespace stoker
