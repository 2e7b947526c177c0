// Store stage: cuts what a driver or a broken probe tells down to StoreLimits.
#pragma once

#include "device/api.h"
#include "model/reading.h"

namespace stoker::store {

// Each returns how many things were left out or cut short.
std::size_t bound(device::SourceStatus& status);
std::size_t bound(device::DriverInfo& driver);
std::size_t bound(device::GpuInfo& gpu);
std::size_t bound(std::vector<device::ProcessInfo>& processes);
std::size_t bound(std::vector<device::CallCost>& costs);
std::size_t bound(std::string& text);

// A reading as it may be kept: a value that is no number is invalid, and one from the future (which
// would never grow old) was taken now.
Reading sound(const Reading& reading, MonotonicTime now);

}  // namespace stoker::store
