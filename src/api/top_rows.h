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
  const Json* chosen = nullptr;  // in `gpus`; nullptr: there is none
};
// With who holds each where `width` has room for it.
GpuRows gpu_rows(const Json& gpus, const TopChoice& choice, std::size_t width);

// All that hold this card, with their shares; "" where nobody does or it is not known.
std::string owners_line(const Json& gpu);

// Titles first, then why owners are not known; at most `most` lines, the last of which says how many
// more processes there are. `attribution` is that of the status document; where it is missing nothing
// looks for owners, and there are no columns for them.
std::vector<TopLine> process_rows(const Json& gpus, const Json& attribution,
                                  const TopChoice& choice, std::size_t width, std::size_t most);

}  // namespace stoker::api
