// Ground stage: a file that is there whole, or as it was before.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/result.h"

namespace stoker {

// Has `write` fill a file beside `path` (PATH.new, made anew, of that `mode`), and then puts that in its place, on the disk when it
// returns. Where anything fails, `path` is as it was.
Result<void> replace_file(const std::string& path,
                          const std::function<Result<void>(int fd, const std::string& name)>& write,
                          mode_t mode = 0640);
// No error where there is none.
Result<void> remove_file(const std::string& path);

}  // namespace stoker
