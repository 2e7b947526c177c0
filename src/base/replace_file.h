// Ground stage: a file that is there whole, or as it was before.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace stoker {

// Has `write` fill a file beside `path` (PATH.new, mode 0640), and then puts that in its place, on the disk when it
// returns. Where anything fails, `path` is as it was.
Result<void> replace_file(
    const std::string& path,
    const std::function<Result<void>(int fd, const std::string& name)>& write);
// No error where there is none.
Result<void> remove_file(const std::string& path);

}  // namespace stoker
