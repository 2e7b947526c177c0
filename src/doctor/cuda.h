// Analyzer stage: which CUDA runs on which driver, and which build of torch on which card. Data: cuda.def.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace stoker::doctor {

struct CudaVersion {
  int major = 0;
  int minor = 0;
  // "12.4", "12.4.1", "13"; nullopt: none of these.
  static std::optional<CudaVersion> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const CudaVersion&, const CudaVersion&) = default;
};

enum class CudaFit : std::uint8_t {
  full,          // the driver is at least the one that the toolkit was released with
  minor_compat,  // of the same family: runs; PTX and features newer than the driver do not
  too_old,  // below the family's first branch: cudaErrorInsufficientDriver, unless forward compatibility helps
  unknown,  // the table does not have this toolkit or can't read this driver's version
};
CudaFit fit_of(CudaVersion toolkit, std::string_view driver);

// "535.54.03"; empty: not in the table.
std::string_view driver_of_toolkit(CudaVersion toolkit);
// 525; 0: not in the table.
int first_branch_of(int cuda_major);

// Ten times the compute capability, 90 for an H100; nullopt: the table does not have this card.
std::optional<int> compute_capability(std::string_view card_name);
// Does PyTorch's wheel of that CUDA have code for it? nullopt: the table does not have this wheel.
std::optional<bool> torch_has_code_for(CudaVersion cuda, int capability);

// Forward compatibility is for data centre cards: https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html
// False for GeForce and TITAN; nullopt: RTX cards, of which some have it.
std::optional<bool> has_forward_compatibility(std::string_view card_name);

}  // namespace stoker::doctor
