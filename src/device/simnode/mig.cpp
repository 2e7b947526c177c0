#include "device/simnode/mig.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/closest.h"
#include "device/sim/library/mig_plan.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

// Compute instance profiles by NVML's number, which is their id on the card too: slices of each.
constexpr std::array<std::uint32_t, 5> compute_slices{1, 2, 3, 4, 7};

// As nvidia-smi mig -lcip lists them: 3 slices fit into 3 and 7, not into 4.
bool may_hold(std::uint32_t instance, std::uint32_t compute) {
  return compute == instance || (compute < instance && !(compute == 3 && instance == 4));
}

void fill_compute(const catalog::MigGeometry& geometry, const catalog::MigProfile& from,
                  sim::MigProfile& to) {
  std::size_t row = 0;
  for (std::uint32_t number = 0; number < compute_slices.size(); ++number) {
    const std::uint32_t slices = compute_slices[number];
    if (!may_hold(from.slices, slices)) continue;
    sim::ComputeProfile& out = to.compute[row++];
    out.number = number;
    out.id = number;
    out.slices = slices;
    out.instances = from.slices / slices;
    out.multiprocessors =
        slices == from.slices ? from.multiprocessors : slices * geometry.slice_multiprocessors;
    put(out.name, slices == from.slices ? from.name : fmt::format("{}c.{}", slices, from.name));
  }
}

std::vector<std::string> profile_names_of(const sim::MigFacts& mig) {
  std::vector<std::string> names;
  for (const auto& profile : mig.profiles) {
    if (profile.slices != 0) names.emplace_back(get(profile.name));
  }
  return names;
}

// Row of the profile, or max_mig_profiles.
std::uint32_t find_profile(const sim::MigFacts& mig, std::string_view name) {
  std::uint32_t row = 0;
  while (row < sim::max_mig_profiles &&
         (mig.profiles[row].slices == 0 || get(mig.profiles[row].name) != name)) {
    ++row;
  }
  return row;
}

// One compute instance that fills the GPU instance.
void fill_with_compute(const sim::Gpu& gpu, const sim::MigProfile& profile,
                       sim::GpuInstance& instance) {
  for (const sim::ComputeProfile& compute : profile.compute) {
    if (compute.slices == profile.slices) (void)sim::add_compute(gpu, instance, compute, 0);
  }
}

}  // namespace

void fill_mig(const catalog::Product& product, sim::MigFacts& mig) {
  if (!product.mig) return;
  const catalog::MigGeometry& geometry = *product.mig;
  mig.capable = 1;
  mig.max_devices = geometry.compute_slices;
  mig.memory_slices = geometry.memory_slices;
  mig.needs_reset = geometry.needs_reset ? 1 : 0;
  std::size_t row = 0;
  for (const auto& from : geometry.profiles) {
    if (row == sim::max_mig_profiles) break;
    sim::MigProfile& to = mig.profiles[row++];
    to.number = from.number;
    to.id = from.id;
    to.slices = from.slices;
    to.instances = from.instances;
    to.multiprocessors = from.multiprocessors;
    to.copy_engines = from.copy_engines;
    to.decoders = from.decoders;
    to.encoders = from.encoders;
    to.jpeg_engines = from.jpeg_engines;
    to.ofa_engines = from.ofa_engines;
    to.memory_mib = from.memory_mib;
    to.placement_size = from.size;
    to.placement_count = static_cast<std::uint32_t>(from.starts.size());
    std::copy(from.starts.begin(), from.starts.end(), to.placement_start);
    put(to.name, from.name);
    fill_compute(geometry, from, to);
  }
}

void set_mig_mode(bool on, sim::MigFacts& mig) {
  mig.mode = on ? 1 : 0;
  mig.pending_mode = mig.mode;
  std::fill(std::begin(mig.instances), std::end(mig.instances), sim::GpuInstance{});
}

Result<std::string> create_instance(const std::string& name, sim::Gpu& gpu) {
  sim::MigFacts& mig = gpu.mig;
  if (mig.capable == 0) return fail(ErrorCode::not_supported, "this product has no MIG");
  if (mig.mode == 0) {
    return fail(ErrorCode::unavailable, "MIG is off on this GPU; inject mig-mode on first");
  }
  const std::uint32_t row = find_profile(mig, name);
  if (row == sim::max_mig_profiles) {
    return fail(ErrorCode::invalid_input, "there is no MIG profile '" + name +
                                              "' on this GPU; there are " +
                                              listed(closest_first(name, profile_names_of(mig))));
  }
  const sim::MigProfile& profile = mig.profiles[row];
  const auto start = sim::choose_start(mig, profile);
  sim::GpuInstance* made = start ? sim::add_instance(mig, profile, *start) : nullptr;
  if (made == nullptr) {
    return fail(ErrorCode::unavailable,
                "no place is free for " + name + "; in use are " + listed(describe_instances(mig)));
  }
  fill_with_compute(gpu, profile, *made);
  return fmt::format("{} gi={} at {}:{}", name, made->id, made->start, made->size);
}

std::vector<std::string> describe_instances(const sim::MigFacts& mig) {
  std::vector<std::string> words;
  for (const auto& instance : mig.instances) {
    if (instance.used == 0) continue;
    words.push_back(fmt::format("{} gi={} at {}:{}", get(mig.profiles[instance.profile].name),
                                instance.id, instance.start, instance.size));
  }
  return words;
}

}  // namespace stoker::simnode
