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

}  // namespace stoker::simnode
