#include "lint/kubernetes/model_memory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/text.h"

namespace stoker::lint::kubernetes {
namespace {

enum class NodeLabel : std::uint8_t { product, gke, instance };

struct GpuMemory {
  NodeLabel label;
  std::string_view front;
  double gigabytes;
};

constexpr auto gpu_memories = std::to_array<GpuMemory>({
#define STOKER_GPU_MEMORY(key, front, gigabytes) GpuMemory{NodeLabel::key, front, gigabytes},
#include "lint/kubernetes/gpu_memory.def"
#undef STOKER_GPU_MEMORY
});

constexpr auto families = std::to_array<std::string_view>({
#define STOKER_MODEL_FAMILY(front) front,
#define STOKER_MODEL_CACHE(front, size, layers, kv_heads, head_size)
#include "lint/kubernetes/model_sizes.def"
#undef STOKER_MODEL_FAMILY
#undef STOKER_MODEL_CACHE
});

struct CacheRow {
  std::string_view front;
  double size;
  double bytes;
};

constexpr auto cache_rows = std::to_array<CacheRow>({
#define STOKER_MODEL_FAMILY(front)
#define STOKER_MODEL_CACHE(front, size, layers, kv_heads, head_size) \
  CacheRow{front, size, 2.0 * (layers) * (kv_heads) * (head_size) * 2.0},
#include "lint/kubernetes/model_sizes.def"
#undef STOKER_MODEL_FAMILY
#undef STOKER_MODEL_CACHE
});

std::string_view label_name(NodeLabel label) {
  switch (label) {
    case NodeLabel::product: return "nvidia.com/gpu.product";
    case NodeLabel::gke: return "cloud.google.com/gke-accelerator";
    case NodeLabel::instance: return "node.kubernetes.io/instance-type";
  }
  return {};
}

// "70b" -> 70, "1.5b" -> 1.5; nullopt for every other word.
std::optional<double> billions_of(std::string_view word) {
  if (word.size() < 2 || word.back() != 'b') return std::nullopt;
  word.remove_suffix(1);
  double number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc{} || end != word.data() + word.size() || number <= 0) return std::nullopt;
  return number;
}

// Of several sizes in a name the smallest, so that a bound it stays.
std::optional<double> billions_in(std::string_view name) {
  std::optional<double> least;
  while (!name.empty()) {
    const auto end = std::min(name.find_first_of("-_/"), name.size());
    if (const auto size = billions_of(name.substr(0, end))) {
      least = std::min(least.value_or(*size), *size);
    }
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return least;
}

// Bytes of a weight, by what a name says of a quantization.
double bytes_by_name(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (has("awq") || has("gptq") || has("int4") || has("4bit") || has("4-bit") || has("bnb") ||
      has("fp4") || has("gguf") || has("w4a") || has("quant"))
    return 0.5;
  return has("fp8") || has("int8") || has("8bit") || has("8-bit") || has("w8a") ? 1 : 2;
}

// Of "nvidia.com/mig-3g.40gb": 40.
std::optional<double> mig_gigabytes(std::string_view resource) {
  const auto point = resource.rfind("g.");
  const auto unit = resource.find("gb", std::min(point, resource.size()));
  if (!resource.starts_with("nvidia.com/mig-") || unit == std::string_view::npos)
    return std::nullopt;
  const auto number = whole_number<int>(resource.substr(point + 2, unit - point - 2));
  return number ? std::optional<double>(*number) : std::nullopt;
}

}  // namespace

std::optional<ModelSize> size_of_model(std::string_view model) {
  std::string name(model);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto begins = [&](std::string_view front) { return name.starts_with(front); };
  if (std::ranges::none_of(families, begins)) return std::nullopt;
  const auto billions = billions_in(name);
  if (!billions) return std::nullopt;
  // Names round up: Llama-2-7b has 6.74 billion, which is the most of any family here.
  constexpr double least_part = 0.95;
  ModelSize size{*billions * least_part, bytes_by_name(name), 0};
  for (const CacheRow& row : cache_rows) {
    if (begins(row.front) && row.size == *billions) size.bytes_a_token = row.bytes;
  }
  return size;
}

std::optional<double> gpu_gigabytes(const Pod& pod, const Container& container) {
  if (const auto part = mig_gigabytes(container.gpus.resource)) return part;
  std::optional<double> found;
  std::size_t longest = 0;
  for (const GpuMemory& row : gpu_memories) {
    const auto value = pod.spec.find("nodeSelector").find(label_name(row.label)).text();
    if (!value.starts_with(row.front) || row.front.size() < longest) continue;
    // "NVIDIA-L4" is no L40: behind the name stands nothing or a word of its own.
    const auto rest = value.substr(row.front.size());
    const bool whole = row.label == NodeLabel::instance || rest.empty() || rest.front() == '-';
    const bool series = row.front == "NVIDIA-L40" && rest.starts_with("S");
    if (!whole && !series && row.front != "NVIDIA-A10") continue;
    if (row.front == "NVIDIA-A10" && !rest.empty() && rest.front() != 'G' && rest.front() != '-')
      continue;
    longest = row.front.size();
    found = row.gigabytes;
  }
  return found;
}

}  // namespace stoker::lint::kubernetes
