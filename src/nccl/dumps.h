// NCCL analyzer: what PyTorch's flight recorder and NCCL's RAS give as data.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "nccl/facts.h"
#include "nccl/tree.h"

namespace stoker::nccl {

// A flight recorder's dump (torch.distributed.flight_recorder; versions 1.x to 2.x, pickled or as JSON), into
// `facts.dumps`. The rank is the last number of the file's name, as torch names dumps. corrupt: it is no dump.
Result<void> add_dump(const Tree& tree, std::uint32_t file, Facts& facts);

// A RAS answer in JSON (NCCL 2.28.7 and later). corrupt: it is none.
Result<void> add_ras(const Tree& tree, std::uint32_t file, std::uint64_t line, Facts& facts);

// Is it one of the two? Adds it, or says that it is neither.
Result<void> add_data(const Tree& tree, std::uint32_t file, std::uint64_t line, Facts& facts);

}  // namespace stoker::nccl
