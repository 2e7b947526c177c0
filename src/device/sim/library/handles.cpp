#include "device/sim/library/handles.h"

#include <array>
#include <functional>

namespace stoker::sim {
namespace {

constexpr std::size_t compute_rows = max_compute_instances;
constexpr std::size_t instance_rows = max_gpu_instances;

// One byte an address; what an address means is its distance from the table's beginning.
std::array<char, max_gpus> device_marks;
std::array<char, max_gpus * instance_rows> instances;
std::array<char, max_gpus * instance_rows * compute_rows> computes;
std::array<char, max_gpus * instance_rows * compute_rows> migs;

template <typename Handle, std::size_t size>
Handle at(std::array<char, size>& table, std::size_t index) {
  return reinterpret_cast<Handle>(&table[index]);
}

template <std::size_t size>
std::optional<std::size_t> index_in(const std::array<char, size>& table, const void* handle) {
  const auto* address = static_cast<const char*>(handle);
  const std::less<const char*> before;  // a total order for any pointer, unlike <
  if (before(address, table.data()) || !before(address, table.data() + size)) return std::nullopt;
  return static_cast<std::size_t>(address - table.data());
}

std::size_t compute_index(const Place& place) {
  return (place.gpu * instance_rows + place.instance) * compute_rows + place.compute;
}

Place compute_place(std::size_t index) {
  const std::size_t instance = index / compute_rows;
  return {static_cast<std::uint32_t>(instance / instance_rows),
          static_cast<std::uint32_t>(instance % instance_rows),
          static_cast<std::uint32_t>(index % compute_rows)};
}

}  // namespace

Device device_handle(std::uint32_t gpu) { return at<Device>(device_marks, gpu); }

Device mig_handle(const Place& place) { return at<Device>(migs, compute_index(place)); }

GpuInstanceHandle gpu_instance_handle(std::uint32_t gpu, std::uint32_t instance) {
  return at<GpuInstanceHandle>(instances, gpu * instance_rows + instance);
}

ComputeInstanceHandle compute_instance_handle(const Place& place) {
  return at<ComputeInstanceHandle>(computes, compute_index(place));
}

std::optional<Place> place_of(Device handle) {
  if (const auto index = index_in(device_marks, handle)) {
    return Place{static_cast<std::uint32_t>(*index), no_row, no_row};
  }
  if (const auto index = index_in(migs, handle)) return compute_place(*index);
  return std::nullopt;
}

std::optional<Place> place_of(GpuInstanceHandle handle) {
  const auto index = index_in(instances, handle);
  if (!index) return std::nullopt;
  return Place{static_cast<std::uint32_t>(*index / instance_rows),
               static_cast<std::uint32_t>(*index % instance_rows), no_row};
}

std::optional<Place> place_of(ComputeInstanceHandle handle) {
  const auto index = index_in(computes, handle);
  if (!index) return std::nullopt;
  return compute_place(*index);
}

}  // namespace stoker::sim
