// Device stage: the processes on a GPU, from lists whose layout can't be trusted by name.
// nvmlDeviceGetComputeRunningProcesses_v3 has filled entries of 16, 24, 32 and maybe 40 bytes under
// one name (abi_table.cpp), so the layout is derived from what was really written.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/api.h"
#include "device/nvml/functions.h"
#include "device/nvml/status.h"

namespace stoker::nvml {

struct Session;

// Entries that NVML wrote, before names.
struct ListedProcess {
  std::uint32_t pid = 0;
  std::uint64_t used_bytes = abi::value_not_available;
  std::uint32_t gpu_instance = abi::no_instance_id;
  std::uint32_t compute_instance = abi::no_instance_id;
  friend bool operator==(const ListedProcess&, const ListedProcess&) = default;
};

inline constexpr std::uint8_t unwritten = 0xA5;  // what the buffer holds before the call

// Splits a buffer that held `unwritten` throughout before the driver wrote `count` entries to it.
// Nothing where the extent doesn't divide into entries of a known size, or an entry makes no sense.
std::optional<std::vector<ListedProcess>> split_entries(std::span<const std::uint8_t> buffer,
                                                        std::size_t count);

// Bytes an entry in the last such buffer; 0 where it can't be told.
std::size_t derive_stride(std::span<const std::uint8_t> buffer, std::size_t count);

// Strides that were confirmed in this process, one for each list: what is confirmed once isn't
// checked again. Safe from any thread.
class ProcessStrides {
 public:
  enum class List : std::uint8_t { compute, graphics, mps };
  [[nodiscard]] bool confirmed(List list, std::size_t stride) const {
    return strides_[static_cast<std::size_t>(list)] == stride;
  }
  void confirm(List list, std::size_t stride) { strides_[static_cast<std::size_t>(list)] = stride; }

 private:
  std::array<std::atomic<std::size_t>, 3> strides_{};
};

// Lists the processes of one device handle (a GPU's or a MIG device's). The reading is their count,
// or why they are not known; then `out` is left as it was.
Reading list_processes(Session& session, abi::Device device, std::vector<device::ProcessInfo>& out);

}  // namespace stoker::nvml
