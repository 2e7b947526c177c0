// Health stage: what the rules and the verdict both ask about one GPU.
#pragma once

#include <string>

#include "base/clock.h"
#include "model/entity.h"
#include "store/snapshot.h"

namespace stoker::health {

// By UUID; by address for a GPU that could never be opened.
Entity entity_of(const store::GpuSnapshot& gpu);
// "GPU 3 (0000:9a:00.0)", or "The GPU at 0000:9a:00.0".
std::string name_of(const store::GpuSnapshot& gpu);

// Has at least one current reading that a call about it brought.
bool answers(const store::GpuSnapshot& gpu);
// Present, and yet nothing about it is current: every value grew stale, or none ever came within ten
// seconds.
bool is_silent(const store::GpuSnapshot& gpu, MonotonicTime now);
Nanoseconds silent_for(const store::GpuSnapshot& gpu, MonotonicTime now);

}  // namespace stoker::health
