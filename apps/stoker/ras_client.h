// Composition: asks NCCL's RAS port, which a running job has on each of its hosts, for the state of all its ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/host_port.h"
#include "base/result.h"

namespace stoker::app {

// What NCCL listens on (NCCL_RAS_ADDR; src/ras/ras.cc since 2.24).
inline constexpr std::uint16_t ras_port = 28028;

// "HOST:PORT", or a host alone.
Result<HostPort> parse_ras_address(const std::string& text);

// The whole answer: JSON where that NCCL can (2.28.7 and later), else text. RAS itself waits some seconds for ranks that
// don't answer it. unavailable, timeout; corrupt: what answers there is no RAS, or says more than `most` bytes.
Result<std::string> ask_ras(const HostPort& address, std::chrono::milliseconds timeout,
                            std::size_t most = std::size_t{64} << 20U);

// As a log has it: with the greeting that says what it is.
std::string as_log(const std::string& answer);

}  // namespace stoker::app
