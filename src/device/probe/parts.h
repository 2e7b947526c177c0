// Device stage: how the types of device/api.h stand in messages of the probe protocol.
#pragma once

#include "device/api.h"
#include "model/wire.h"

namespace stoker::device::probe {

using wire::PlainNumber;
using wire::Reader;
using wire::Writer;

// The fewest bytes that one of each takes, for Reader::count.
inline constexpr std::size_t min_reading_bytes = 20;
inline constexpr std::size_t typical_reading_bytes = 35;
inline constexpr std::size_t min_process_bytes = 24;
inline constexpr std::size_t min_cost_bytes = 34;
inline constexpr std::size_t min_gpu_bytes = 64;

void write_plain_reading(Writer& out, const Reading& reading);
Reading read_plain_reading(Reader& in);

void write_reading(Writer& out, const TargetReading& reading);
TargetReading read_reading(Reader& in);

void write_process(Writer& out, const ProcessInfo& process);
ProcessInfo read_process(Reader& in);

void write_cost(Writer& out, const CallCost& cost);
CallCost read_cost(Reader& in);

void write_driver(Writer& out, const DriverInfo& driver);
DriverInfo read_driver(Reader& in);

void write_gpu(Writer& out, const GpuInfo& gpu);
GpuInfo read_gpu(Reader& in);

}  // namespace stoker::device::probe
