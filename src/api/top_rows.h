// Edge: the lists of `stoker top`: GPUs with their MIG instances, and processes. Internal to src/api.
#pragma once

#include <string>
#include <vector>

#include "api/document_reader.h"
#include "api/top_screen.h"

namespace stoker::api {

struct GpuRows {
  std::vector<TopLine> lines;  // titles first
  std::size_t gpus = 0;
  std::string chosen;  // UUID
};
GpuRows gpu_rows(const Json& gpus, const TopChoice& choice);

// Titles first; at most `most` lines, the last of which says how many more there are.
std::vector<TopLine> process_rows(const Json& gpus, const TopChoice& choice, std::size_t most);

}  // namespace stoker::api
