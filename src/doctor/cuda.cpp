#include "doctor/cuda.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "doctor/kernels.h"

namespace stoker::doctor {
namespace {

struct ToolkitRow {
  CudaVersion toolkit;
  std::string_view driver;
};
struct FamilyRow {
  int major;
  int branch;
};
struct WheelRow {
  CudaVersion cuda;
  int lowest;
  int highest;
};
struct CardRow {
  std::string_view word;
  int capability;
};

constexpr auto toolkit_rows = std::to_array<ToolkitRow>({
#define STOKER_CUDA_TOOLKIT(major, minor, driver) {{major, minor}, driver},
#include "doctor/cuda.def"
});

constexpr auto family_rows = std::to_array<FamilyRow>({
#define STOKER_CUDA_FAMILY(major, branch) {major, branch},
#include "doctor/cuda.def"
});

constexpr auto wheel_rows = std::to_array<WheelRow>({
#define STOKER_TORCH_WHEEL(major, minor, lowest, highest) {{major, minor}, lowest, highest},
#include "doctor/cuda.def"
});

constexpr auto card_rows = std::to_array<CardRow>({
#define STOKER_CARD(word, capability) {word, capability},
#include "doctor/cuda.def"
});

// "L4" is a word of "NVIDIA L4", and none of "NVIDIA L40S".
bool has_word(std::string_view name, std::string_view word) {
  for (auto at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const auto before = at == 0 ? ' ' : name[at - 1];
    const auto after = at + word.size() < name.size() ? name[at + word.size()] : ' ';
    const bool goes_on = (after >= 'A' && after <= 'Z') || (after >= 'a' && after <= 'z') ||
                         (after >= '0' && after <= '9');
    if ((before == ' ' || before == '-') && !goes_on) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<CudaVersion> CudaVersion::parse(std::string_view text) {
  const auto major = whole_number<int>(text.substr(0, text.find('.')));
  if (!major) return std::nullopt;
  CudaVersion version{.major = *major, .minor = 0};
  if (const auto dot = text.find('.'); dot != std::string_view::npos) {
    text.remove_prefix(dot + 1);
    const auto minor = whole_number<int>(text.substr(0, text.find('.')));
    if (!minor) return std::nullopt;
    version.minor = *minor;
  }
  return version;
}

std::string CudaVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string_view driver_of_toolkit(CudaVersion toolkit) {
  const auto row = std::ranges::find(toolkit_rows, toolkit, &ToolkitRow::toolkit);
  return row == toolkit_rows.end() ? "" : row->driver;
}

int first_branch_of(int cuda_major) {
  const auto row = std::ranges::find(family_rows, cuda_major, &FamilyRow::major);
  return row == family_rows.end() ? 0 : row->branch;
}

CudaFit fit_of(CudaVersion toolkit, std::string_view driver) {
  const auto branch = whole_number<int>(driver.substr(0, driver.find('.')));
  const int first = first_branch_of(toolkit.major);
  if (!branch || first == 0) return CudaFit::unknown;
  const auto own = driver_of_toolkit(toolkit);
  if (!own.empty() && compare_versions(driver, own) >= 0) return CudaFit::full;
  // A driver runs what was built with every older toolkit.
  const bool newer_family =
      *branch >= first_branch_of(toolkit.major + 1) && first_branch_of(toolkit.major + 1) > 0;
  if (own.empty())
    return newer_family ? CudaFit::full : *branch < first ? CudaFit::too_old : CudaFit::unknown;
  return *branch >= first ? CudaFit::minor_compat : CudaFit::too_old;
}

std::optional<int> compute_capability(std::string_view card_name) {
  for (const auto& row : card_rows) {
    if (has_word(card_name, row.word)) return row.capability;
  }
  return std::nullopt;
}

std::optional<bool> torch_has_code_for(CudaVersion cuda, int capability) {
  const auto row = std::ranges::find(wheel_rows, cuda, &WheelRow::cuda);
  if (row == wheel_rows.end()) return std::nullopt;
  if (capability < row->lowest) return std::nullopt;  // older releases may have it
  return capability / 10 <= row->highest / 10;
}

std::optional<bool> has_forward_compatibility(std::string_view card_name) {
  if (card_name.find("GeForce") != std::string_view::npos ||
      card_name.find("TITAN") != std::string_view::npos)
    return false;
  if (card_name.find("RTX") != std::string_view::npos ||
      card_name.find("Quadro") != std::string_view::npos)
    return std::nullopt;
  return true;
}

}  // namespace stoker::doctor
