// Settings that NCCL and torch take as they are written, and that cost: left-over debugging, masking, no watchdog.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "lint/env/checks.h"

namespace stoker::lint {
namespace {

struct EffectRow {
  std::string_view name;
  std::string_view value;  // "on": a number other than 0
  std::string_view rule;
  std::string_view says;
};

constexpr auto effects = std::to_array<EffectRow>({
    {"NCCL_P2P_DISABLE", "1", "nccl-transport-off",
     "GPUs of a host exchange data through host memory, not over NVLink or PCIe"},
    {"NCCL_P2P_LEVEL", "LOC", "nccl-transport-off",
     "GPUs of a host exchange data through host memory, not over NVLink or PCIe"},
    {"NCCL_SHM_DISABLE", "on", "nccl-transport-off",
     "GPUs of a host without peer access exchange data over the network"},
    {"NCCL_IB_DISABLE", "on", "nccl-network-off",
     "hosts exchange data over TCP, also where they have InfiniBand or RoCE"},
    {"NCCL_NVLS_ENABLE", "0", "nccl-network-off", "NVLink SHARP is not used"},
    {"NCCL_NET_GDR_LEVEL", "LOC", "nccl-network-off",
     "GPUDirect RDMA is not used: data goes through host memory"},
    {"NCCL_NET_GDR_LEVEL", "0", "nccl-network-off",
     "GPUDirect RDMA is not used: data goes through host memory"},
    {"NCCL_PXN_DISABLE", "on", "nccl-network-off", "a GPU uses its own NIC alone"},
    {"NCCL_DEBUG", "TRACE", "nccl-debug-trace", "each call of each rank may be logged"},
    {"NCCL_DEBUG", "INFO", "nccl-debug-info", "each rank logs how it connects and what it chooses"},
    {"TORCH_DISTRIBUTED_DEBUG", "DETAIL", "nccl-debug-trace",
     "torch compares every collective of all ranks before it runs it"},
    {"CUDA_LAUNCH_BLOCKING", "on", "cuda-launch-blocking", "CUDA waits for every kernel"},
    {"TORCH_NCCL_ENABLE_MONITORING", "0", "torch-watchdog-off",
     "a process whose watchdog is stuck in the driver lives on"},
    {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", "torch-watchdog-off",
     "an error or a timeout of a collective ends nothing"},
    {"NCCL_ASYNC_ERROR_HANDLING", "0", "torch-watchdog-off",
     "an error or a timeout of a collective ends nothing"},
});

bool means(std::string_view value, std::string_view wanted) {
  if (wanted == "on") return is_on(value);
  if (!wanted.empty() && std::isdigit(static_cast<unsigned char>(wanted.front())) != 0) {
    const auto read = read_number(value);
    return read.whole && read.value == wanted.front() - '0';
  }
  return std::ranges::equal(value, wanted, [](char one, char other) {
    return std::toupper(static_cast<unsigned char>(one)) == other;
  });
}

}  // namespace

void check_effect(const Variable& variable, const EnvContext& context, EnvReport& report) {
  for (const auto& row : effects) {
    if (row.name != variable.name || !means(*variable.value, row.value)) continue;
    report.add(row.rule, variable, fmt::format("{}={}: {}", row.name, *variable.value, row.says));
  }
  // Before, the row was 0 unless it was set.
  constexpr NcclVersion finds_gid{.major = 2, .minor = 21};
  if (variable.name == "NCCL_IB_GID_INDEX" && context.nccl.value_or(finds_gid) >= finds_gid &&
      read_number(*variable.value).value >= 0) {
    report.add("nccl-gid-index", variable,
               fmt::format("every port uses row {} of its GID table", *variable.value));
  }
}

}  // namespace stoker::lint
