// Analyzer stage: what is certain of the memory that a model takes and that a pod's GPUs have. All numbers are bounds on
// the side that keeps a check silent.
#pragma once

#include <optional>
#include <string_view>

#include "lint/kubernetes/workload.h"

namespace stoker::lint::kubernetes {

struct ModelSize {
  double billions = 0;       // of parameters, as the name says
  double bytes_each = 2;     // of a weight
  double bytes_a_token = 0;  // in a cache of 16 bit; 0: not known
};

// By the hub's name of a model, "meta-llama/Llama-3.1-70B-Instruct"; nullopt: its size or the type of its weights is not known.
std::optional<ModelSize> size_of_model(std::string_view model);

// GiB of one of the container's GPUs, at most; nullopt: the manifest does not say which GPUs they are.
std::optional<double> gpu_gigabytes(const Pod& pod, const Container& container);

}  // namespace stoker::lint::kubernetes
