// Event stage: a log as it lies on disk, packed by gzip or zstd or not packed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stoker::event {

// Gives the content of the file at `path` ("-": standard input) to `take`, piece by piece. Several packed streams one
// after another are one content. not_found, no_permission, io; corrupt where a packed stream is cut or changed, after
// all that could be read was given; not_supported for what is packed in another way, and says what to do.
Result<void> read_log_file(const std::string& path,
                           const std::function<void(std::string_view)>& take);

}  // namespace stoker::event
