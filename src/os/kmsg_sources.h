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

// `fd` is a file of records, at most one a line; lines that begin with a space belong to the one
// before. `reopen` gives the file that stands under the name now: it may have been replaced.
std::unique_ptr<KmsgFollower> follow_file(UniqueFd fd, KmsgStart start,
                                          std::function<Result<UniqueFd>()> reopen);

}  // namespace stoker::os
