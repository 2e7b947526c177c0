// NCCL analyzer: verdicts as people and scripts read them (docs/specs/nccl.md).
#pragma once

#include <span>
#include <string>

#include "model/render.h"
#include "nccl/verdict.h"

namespace stoker::nccl {

// {"schema":"stoker.dev/v1/verdict","verdicts":[...]}
std::string verdicts_json(std::span<const Verdict> verdicts);

// The verdict, the next step, the ranks, the evidence, and what is not known; a block a job.
std::string verdicts_text(std::span<const Verdict> verdicts, const TableStyle& style);

}  // namespace stoker::nccl
