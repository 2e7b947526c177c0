// Machine stage: opens files below a folder as if that folder were "/".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stoker::os {

// Opens `path` (absolute) below `root` with open(2) `flags`, close-on-exec. Symbolic links, absolute
// ones and "..", are followed inside the root alone, as chroot(2) would; more than 40 links in a row
// are ELOOP, as in the kernel. With O_NOFOLLOW in `flags` a link in the last place is not followed.
// (openat2's RESOLVE_IN_ROOT does the same, but container runtimes' filters may refuse that call.)
Result<UniqueFd> open_below(const std::string& root, std::string_view path, int flags);

// `path` put below `root`, "." and ".." resolved by name alone; for messages.
std::string join_below(std::string_view root, std::string_view path);

}  // namespace stoker::os
