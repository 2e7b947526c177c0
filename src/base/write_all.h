// Ground stage: writing to a file descriptor.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker {

// All of `bytes`, however often write(2) takes only a part. The error names `path`.
Result<void> write_all(int fd, std::string_view bytes, const std::string& path);

}  // namespace stoker
