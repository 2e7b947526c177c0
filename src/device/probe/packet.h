// Device stage: one packet of a SOCK_SEQPACKET socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoker::device::probe {

enum class Wait { no, yes };

// The next packet; empty at the end of the stream (no message of ours is empty). timeout: nothing
// there yet. corrupt: longer than any message.
Result<std::string> receive_packet(int fd, Wait wait);

// Everything that is there, in few system calls; its memory is kept.
class Inbox {
 public:
  Inbox();

  // The packets that are there now, at most `most`; valid until the next call. Empty: none yet. An
  // empty packet: the end of the stream, and the last one. corrupt: longer than any message.
  Result<std::vector<std::string_view>> receive(int fd);

  static constexpr std::size_t most = 16;

 private:
  std::unique_ptr<char[]> memory_;
};

}  // namespace stoker::device::probe
