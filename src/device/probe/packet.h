// Device stage: one packet of a SOCK_SEQPACKET socket.
#pragma once

#include <string>

#include "base/result.h"

namespace stoker::device::probe {

enum class Wait { no, yes };

// The next packet; empty at the end of the stream (no message of ours is empty). timeout: nothing
// there yet. corrupt: longer than any message.
Result<std::string> receive_packet(int fd, Wait wait);

}  // namespace stoker::device::probe
