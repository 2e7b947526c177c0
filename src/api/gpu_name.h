// Edge: how people name a GPU in an address or a question.
#pragma once

#include <string_view>

#include "store/snapshot.h"

namespace stoker::api {

// Is `gpu` meant by `text`: its index ("3"), its UUID, or its PCI address? A GPU that could never be opened
// has no index.
bool is_named(const device::GpuInfo& gpu, std::string_view text);

}  // namespace stoker::api
