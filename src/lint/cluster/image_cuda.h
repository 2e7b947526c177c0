// Analyzer stage: which CUDA an image's name says that it has.
#pragma once

#include <optional>
#include <string_view>

namespace stoker::lint {

// 12 of "nvcr.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04", "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime" and
// "example.com/x:0.4-cu124"; nullopt: the name says none.
std::optional<int> cuda_major_of_image(std::string_view image);

}  // namespace stoker::lint
