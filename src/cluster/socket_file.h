// Cluster stage: a UNIX socket's file, looked at before gRPC is.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace stoker::cluster {

// Which file it is: one that was made anew under the same name is another.
struct SocketFile {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t made_at = 0;  // nanoseconds; file systems use inodes again
  friend bool operator==(const SocketFile&, const SocketFile&) = default;
};

// not_found: there is no folder for it. unavailable: no file in it, or no socket.
Result<SocketFile> find_socket(const std::string& path);

// Does somebody listen? unavailable: nobody; no_permission: this process may not know. Connects and
// hangs up: gRPC tells such things in words alone.
Result<void> try_socket(const std::string& path);

}  // namespace stoker::cluster
