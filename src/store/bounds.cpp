#include "store/bounds.h"

#include <algorithm>
#include <cmath>

#include "store/store.h"

namespace stoker::store {
namespace {

template <typename T>
std::size_t shorten(std::vector<T>& list, std::size_t most) {
  if (list.size() <= most) return 0;
  const std::size_t left_out = list.size() - most;
  list.resize(most);
  return left_out;
}

std::size_t bound_all(std::initializer_list<std::string*> texts) {
  std::size_t cut = 0;
  for (std::string* text : texts) cut += bound(*text);
  return cut;
}

}  // namespace

std::size_t bound(std::string& text) {
  if (text.size() <= StoreLimits::text_bytes) return 0;
  text.resize(StoreLimits::text_bytes);
  return 1;
}

std::size_t bound(device::SourceStatus& status) { return bound(status.detail); }

std::size_t bound(device::DriverInfo& driver) {
  std::size_t cut = bound_all({&driver.driver_version, &driver.nvml_version});
  cut += shorten(driver.abi_notes, StoreLimits::abi_notes);
  for (std::string& note : driver.abi_notes) cut += bound(note);
  return cut;
}

std::size_t bound(device::GpuInfo& gpu) {
  std::size_t cut = bound_all({&gpu.uuid, &gpu.name, &gpu.serial, &gpu.brand, &gpu.vbios,
                               &gpu.board_part, &gpu.inforom, &gpu.architecture});
  cut += shorten(gpu.migs, StoreLimits::migs_per_gpu);
  for (device::MigInfo& mig : gpu.migs) cut += bound_all({&mig.uuid, &mig.profile});
  cut += shorten(gpu.nvlinks, StoreLimits::nvlinks_per_gpu);
  for (device::NvLinkInfo& link : gpu.nvlinks) cut += bound(link.remote_pci);
  return cut;
}

std::size_t bound(std::vector<device::ProcessInfo>& processes) {
  std::size_t cut = shorten(processes, StoreLimits::processes_per_gpu);
  for (device::ProcessInfo& process : processes) cut += bound(process.name);
  return cut;
}

std::size_t bound(std::vector<device::CallCost>& costs) {
  // One row a getter; a getter out of range can only come from a broken probe.
  const auto unknown = [](const device::CallCost& cost) { return cost.getter >= Getter::count_; };
  return std::erase_if(costs, unknown) + shorten(costs, static_cast<std::size_t>(Getter::count_));
}

Reading sound(const Reading& reading, MonotonicTime now) {
  Reading kept = reading;
  kept.taken_at = std::min(kept.taken_at, now);
  const auto* number = std::get_if<double>(&kept.value);
  if (kept.ok() && number != nullptr && !std::isfinite(*number)) {
    return Reading::none(Reason::invalid, kept.taken_at, kept.took);
  }
  return kept;
}

}  // namespace stoker::store
