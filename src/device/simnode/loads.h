// Simulated node: the loads by the words that people use for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/sim/state_gpu.h"

namespace stoker::simnode {

std::optional<sim::LoadKind> find_load(std::string_view name);
std::string load_name(sim::LoadKind kind);
std::vector<std::string> load_names();

// Starts a load and the process that has it, or ends both with "idle". The process's pid lies above
// every pid that Linux gives (PID_MAX_LIMIT, 4194304), so it is never one of this machine's.
void begin_load(sim::Gpu& gpu, unsigned row, sim::LoadKind kind, std::uint64_t seed,
                std::uint64_t now_ns);

// Sets the high-water mark of a GPU's processes after some came or went.
void count_processes(sim::Gpu& gpu);

}  // namespace stoker::simnode
