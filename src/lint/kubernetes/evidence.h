// Analyzer stage: what a workload is for and what runs in it, with what that rests on. A rule fires only where this
// says that it applies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lint/kubernetes/workload.h"

namespace stoker::lint::kubernetes {

enum class Framework : std::uint8_t {
  none,
  vllm,
  sglang,
  tgi,
  triton,
  ollama,
  llama_cpp,
  llama_swap,
  torch,
  tensorflow,
  jax,
  mindspore,
  ray,
  nccl_tests
};

const char* to_string(Framework framework);

struct Evidence {
  Purpose purpose = Purpose::unknown;
  Framework framework = Framework::none;
  std::vector<std::string> reasons;  // "container 'x' runs torchrun: training"
};

Evidence evidence_of(const Workload& workload);

}  // namespace stoker::lint::kubernetes
