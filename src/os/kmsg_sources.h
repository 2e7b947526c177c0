// Machine stage: the two kinds of kernel log behind follow_kmsg(). Apart from it only tests see them.
#pragma once

#include <functional>
#include <memory>

#include "base/unique_fd.h"
#include "os/kmsg.h"

namespace stoker::os {

// read(2) on /dev/kmsg, or what stands in for it in a test.
using ReadCall = std::function<ssize_t(int fd, char* buffer, std::size_t size)>;

// `fd` is /dev/kmsg, opened O_NONBLOCK: one record a read, EPIPE where records were overwritten.
std::unique_ptr<KmsgFollower> follow_device(UniqueFd fd, KmsgStart start, ReadCall read_call);

struct FollowedFile {
  UniqueFd fd;  // a file of records, at most one a line
  KmsgLineReader reader;
  // Gives the file that stands under the name now: it may have been replaced.
  std::function<Result<UniqueFd>()> reopen;
  std::uint64_t from = 0;  // bytes that are left out
};
std::unique_ptr<KmsgFollower> follow_file(FollowedFile file);

}  // namespace stoker::os
