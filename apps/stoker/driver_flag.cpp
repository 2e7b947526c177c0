#include "driver_flag.h"

#include <fmt/format.h>

namespace stoker::app {

Result<std::optional<DriverVersion>> driver_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto version = DriverVersion::parse(text);
  if (!version) {
    return fail(
        ErrorCode::invalid_input,
        fmt::format(
            "--driver '{}' is no version of NVIDIA's driver; write it like 580.65.06, or 580",
            text));
  }
  return version;
}

}  // namespace stoker::app
