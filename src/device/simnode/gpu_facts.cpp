#include "device/simnode/gpu_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "device/sim/load_model.h"
#include "device/simnode/link_facts.h"
#include "device/simnode/loads.h"
#include "device/simnode/mig.h"
#include "device/simnode/names.h"
#include "device/simnode/text_field.h"

namespace stoker::simnode {
namespace {

using catalog::Product;

constexpr std::uint32_t bus_type_pcie = 2;       // NVML's bus type number
constexpr std::uint32_t not_supported_code = 3;  // nvmlReturn
constexpr std::uint32_t first_irq = 41;          // that of the captured machines

void fill_identity(const Machine& machine, unsigned index, const Product& product, sim::Gpu& gpu) {
  const MachineGpu& place = machine.gpus[index];
  const catalog::ProductIdentity& from = product.identity;
  sim::Identity& to = gpu.identity;
  put(to.name, product.name);
  put(to.uuid, gpu_uuid(machine.name, index));
  put(to.serial, gpu_serial(machine.name, index));
  put(to.part_number, from.part_number);
  put(to.vbios, from.vbios);
  put(to.inforom_image, from.inforom_image);
  put(to.inforom_object[0], from.inforom_oem);
  put(to.inforom_object[1], from.inforom_ecc);
  put(to.inforom_object[2], from.inforom_power);
  if (from.gsp_firmware) put(to.gsp_firmware, machine.driver_version);
  to.minor = index;
  to.board_id = static_cast<std::uint32_t>(place.pci.bus) << 8U | place.pci.device;
  to.module_id = place.module;
  to.brand = from.brand;
  to.architecture = from.architecture;
  to.bus_type = bus_type_pcie;
  to.compute_major = from.compute_major;
  to.compute_minor = from.compute_minor;
  to.cores = from.cores;
  to.multiprocessors = from.multiprocessors;
  to.gsp_enabled = from.gsp_firmware ? 1 : 0;
  to.gsp_default = to.gsp_enabled;
  to.virtualization_mode = machine.virtual_machine ? 1 : 0;
  to.addressing_mode = from.addressing_mode;
  to.c2c_enabled = from.c2c ? 1 : 0;
  to.numa_node = -1;
  to.gpm_supported = from.gpm ? 1 : 0;
  to.supported_event_types = from.event_types;
  for (const unsigned cpu : machine.numa_cpus[place.numa]) {
    to.cpu_affinity[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  to.memory_affinity[place.numa / 64] |= std::uint64_t{1} << (place.numa % 64);
}

void fill_pci(const MachineGpu& place, unsigned index, const Product& product, sim::PciFacts& to) {
  to.domain = place.pci.domain;
  to.bus = place.pci.bus;
  to.device = place.pci.device;
  to.device_id = product.pci.device_id;
  to.subsystem_id = product.pci.subsystem_id;
  to.base_class = 3;  // display controller, 3D: what all of these cards say
  to.sub_class = 2;
  to.generation = product.pci.generation;
  to.max_generation = product.pci.generation;
  to.gpu_max_generation = product.pci.generation;
  to.width = product.pci.width;
  to.max_width = product.pci.width;
  to.speed_mtps = pcie_mtps(product.pci.generation);
  to.max_speed_code = product.pci.generation;
  to.irq = first_irq + index;
}

void fill_memory(const Product& product, sim::MemoryFacts& to) {
  to.total_bytes = product.memory.total_bytes;
  to.reserved_bytes = product.memory.reserved_bytes;
  to.bar1_total_bytes = product.memory.bar1_total_bytes;
  to.bar1_used_bytes = product.memory.bar1_used_bytes;
  to.bus_width_bits = product.memory.bus_width_bits;
}

void fill_clocks(const Product& product, sim::ClockFacts& to) {
  const catalog::ProductClocks& from = product.clocks;
  std::copy(from.idle.begin(), from.idle.end(), to.idle_mhz);
  std::copy(from.busy.begin(), from.busy.end(), to.busy_mhz);
  std::copy(from.max.begin(), from.max.end(), to.max_mhz);
  std::copy(from.customer_boost.begin(), from.customer_boost.end(), to.max_customer_boost_mhz);
  std::copy(from.application.begin(), from.application.end(), to.default_application_mhz);
  to.idle_pstate = from.idle_pstate;
  to.supported_reasons = from.supported_reasons;
  to.memory_clock_count =
      static_cast<std::uint32_t>(std::min<std::size_t>(from.rows.size(), sim::max_memory_clocks));
  for (std::size_t i = 0; i < to.memory_clock_count; ++i) {
    const auto& row = from.rows[i];
    to.rows[i] = {row.memory, row.graphics_min, row.graphics_max, row.step};
  }
}

void fill_power(const Product& product, sim::PowerFacts& to) {
  to.default_limit_mw = product.power.default_mw;
  to.limit_mw = product.power.default_mw;
  to.enforced_mw = product.power.default_mw;
  to.min_limit_mw = product.power.min_mw;
  to.max_limit_mw = product.power.max_mw;
  to.management_mode = 1;
}

void fill_thermal(const Product& product, sim::ThermalFacts& to) {
  std::fill(std::begin(to.threshold_c), std::end(to.threshold_c), sim::threshold_not_supported);
  const catalog::ProductThermal& from = product.thermal;
  to.threshold_c[0] = from.shutdown.value_or(sim::threshold_not_supported);
  to.threshold_c[1] = from.slowdown.value_or(sim::threshold_not_supported);
  to.threshold_c[2] = from.memory_max.value_or(sim::threshold_not_supported);
  to.threshold_c[3] = from.gpu_max.value_or(sim::threshold_not_supported);
  to.fans = from.fans;
}

void fill_ecc(const Product& product, sim::EccFacts& to) {
  if (!product.ecc.supported) return;
  to.mode = product.ecc.enabled ? 1 : 0;
  to.pending_mode = to.mode;
  to.default_mode = to.mode;
  for (const auto location : product.ecc.locations) to.location_mask |= 1U << location;
  to.row_histogram[0] = product.ecc.remap_banks;
}

void fill_modes(const Product& product, sim::ModeFacts& to) {
  to.persistence = 1;
  to.display = product.modes.display ? 1 : 0;
  to.adaptive_clock = product.modes.adaptive_clock ? 1 : 0;
  to.accounting_buffer = product.modes.accounting_buffer;
}

void fill_envelope(const Product& product, sim::Gpu& gpu) {
  const catalog::ProductModel& from = product.model;
  gpu.envelope = {
      .idle_power_mw = from.idle_mw,
      .held_power_mw = from.held_mw,
      .full_power_mw = from.full_mw,
      .idle_temperature_c = from.idle_celsius,
      .full_temperature_c = from.full_celsius,
      .memory_temperature_above_c = from.memory_above_celsius,
      .thermal_time_ms = from.thermal_time_ms,
      .reserved = 0,
      .pcie_bytes_per_second = from.pcie_bytes_per_second,
      .nvlink_bytes_per_second = 0,
  };
  for (unsigned link = 0; link < gpu.link_count; ++link) {
    gpu.envelope.nvlink_bytes_per_second += std::uint64_t{gpu.links[link].speed_mbps} * 1'000'000U;
  }
}

void put_answer(sim::Gpu& gpu, std::string_view function, std::int32_t code) {
  for (auto& answer : gpu.answers) {
    if (answer.function != 0) continue;
    answer = {sim::name_hash(function), code};
    return;
  }
}

// What the product lists, and what follows from a value that nobody has recorded.
void fill_answers(const Product& product, sim::Gpu& gpu) {
  for (const auto& answer : product.answers) put_answer(gpu, answer.function, answer.code);
  const auto unknown = [&](bool is_unknown, std::string_view function) {
    if (is_unknown) put_answer(gpu, function, not_supported_code);
  };
  unknown(product.memory.bar1_total_bytes == 0, "nvmlDeviceGetBAR1MemoryInfo");
  unknown(product.memory.bus_width_bits == 0, "nvmlDeviceGetMemoryBusWidth");
  unknown(product.power.max_mw == 0, "nvmlDeviceGetPowerManagementLimitConstraints");
  unknown(product.ecc.remap_banks == 0, "nvmlDeviceGetRowRemapperHistogram");
  if (product.ecc.supported) return;
  for (const auto* function : {"nvmlDeviceGetEccMode", "nvmlDeviceGetDefaultEccMode",
                               "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetMemoryErrorCounter"}) {
    put_answer(gpu, function, not_supported_code);
  }
}

void put_field(sim::Gpu& gpu, const catalog::ProductField& field) {
  sim::FieldRow* free_row = nullptr;
  for (auto& row : gpu.field_values) {
    if (row.source == sim::FieldSource::none) {
      if (free_row == nullptr) free_row = &row;
    } else if (row.id == field.id) {
      free_row = &row;
      break;
    }
  }
  if (free_row == nullptr) return;
  *free_row = {.id = field.id, .code = field.code, .value_type = field.type, .bits = field.value};
  switch (field.source) {
    case catalog::FieldSourceKind::constant: free_row->source = sim::FieldSource::constant; break;
    case catalog::FieldSourceKind::live: free_row->source = sim::FieldSource::live; break;
    case catalog::FieldSourceKind::untouched:
    case catalog::FieldSourceKind::refused: free_row->source = sim::FieldSource::untouched; break;
  }
}

void fill_fields(const Machine& machine, const Product& product, sim::Gpu& gpu) {
  for (const auto& field : product.fields) put_field(gpu, field);
  if (machine.nvlink == NvLinkKind::none) return;
  for (const auto& field : product.nvlink_fields) put_field(gpu, field);
}

void fill_driver(const Machine& machine, sim::Driver& to) {
  to.loaded = 1;
  to.load_count = 1;
  to.cuda_version = machine.cuda_version;
  to.cost_profile = machine.captured_costs ? sim::CostProfile::captured : sim::CostProfile::free;
  put(to.driver_version, machine.driver_version);
  put(to.nvml_version, fmt::format("{}.{}", machine.cuda_version / 1000, machine.driver_version));
}

void fill_gpu(const Machine& machine, unsigned index, std::uint64_t now_ns, sim::State& state) {
  const MachineGpu& place = machine.gpus[index];
  const Product& product = machine.products.at(place.product);
  sim::Gpu& gpu = state.gpus[index];
  gpu.presence = sim::Presence::present;
  fill_identity(machine, index, product, gpu);
  fill_pci(place, index, product, gpu.pci);
  fill_memory(product, gpu.memory);
  fill_clocks(product, gpu.clocks);
  fill_power(product, gpu.power);
  fill_thermal(product, gpu.thermal);
  fill_ecc(product, gpu.ecc);
  fill_modes(product, gpu.modes);
  fill_links(machine, index, product, gpu);
  fill_envelope(product, gpu);
  fill_answers(product, gpu);
  fill_fields(machine, product, gpu);
  fill_mig(product, gpu.mig);
  sim::settle(gpu, now_ns);
  const std::string& load = place.load.empty() ? machine.load : place.load;
  begin_load(gpu, index, find_load(load).value_or(sim::LoadKind::idle), index + 1, now_ns);
}

}  // namespace

std::uint32_t pcie_mtps(std::uint32_t generation) {
  constexpr std::array<std::uint32_t, 7> speeds{0, 2500, 5000, 8000, 16000, 32000, 64000};
  return generation < speeds.size() ? speeds[generation] : 0;
}

void fill_state(const Machine& machine, std::uint64_t now_ns, sim::State& state) {
  fill_driver(machine, state.driver);
  for (unsigned index = 0; index < machine.gpus.size(); ++index) {
    fill_gpu(machine, index, now_ns, state);
  }
}

}  // namespace stoker::simnode
