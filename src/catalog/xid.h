// Catalogue: names of Xids, the error numbers of NVIDIA's kernel driver.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

// "GPU has fallen off the bus" for 79; "No Error" for 0, and "Unknown Error" for a number that we
// don't know: dcgm-exporter's words (internal/pkg/collector/xid_errors.go).
std::string_view xid_name(std::uint64_t xid);

}  // namespace stoker
