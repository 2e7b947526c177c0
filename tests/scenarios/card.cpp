#include "card.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/products/product.h"
#include "catalog/products/words.h"

namespace stoker::scenario {
namespace {

Reading whole(std::int64_t value) { return Reading::of(value, {}); }
Reading real(double value) { return Reading::of(value, {}); }

std::string architecture_of(const catalog::Product& product) {
  const auto* found = std::ranges::find(catalog::architectures,
                                        static_cast<std::int64_t>(product.identity.architecture),
                                        &catalog::NamedNumber::number);
  return found == catalog::architectures.end() ? std::string() : std::string(found->word);
}

device::GpuInfo card_of(const catalog::Product& product) {
  device::GpuInfo card;
  card.name = product.name;
  card.architecture = architecture_of(product);
  card.slowdown_celsius = product.thermal.slowdown.value_or(0);
  card.shutdown_celsius = product.thermal.shutdown.value_or(0);
  card.max_memory_celsius = product.thermal.memory_max.value_or(0);
  card.max_operating_celsius = product.thermal.gpu_max.value_or(0);
  card.power_limit_default_watts = product.power.default_mw / 1000.0;
  card.power_limit_max_watts = product.power.max_mw / 1000.0;
  card.max_sm_clock_mhz = product.clocks.max[1];
  card.max_memory_clock_mhz = product.clocks.max[2];
  card.max_pcie_generation = product.pci.generation;
  card.max_pcie_width = product.pci.width;
  return card;
}

PciAddress usual_pci(unsigned gpu) {
  return {
      .domain = 0, .bus = static_cast<std::uint8_t>(0x10 * (gpu + 1)), .device = 0, .function = 0};
}

void add_links(std::vector<device::GpuInfo>& cards, const Scenario& scenario) {
  for (unsigned gpu = 0; gpu < cards.size(); ++gpu) {
    for (unsigned link = 0; link < scenario.links; ++link) {
      device::NvLinkInfo info{.link = link, .version = 4};
      info.remote = device::LinkEnd::nvswitch;
      if (scenario.links_to_gpus && cards.size() > 1) {
        const auto other = (gpu + 1 + link % (cards.size() - 1)) % cards.size();
        info.remote = device::LinkEnd::gpu;
        info.remote_pci = cards[other].pci.sysfs();
      }
      cards[gpu].nvlinks.push_back(info);
    }
  }
}

}  // namespace

Result<std::vector<device::GpuInfo>> cards_of(const Scenario& scenario) {
  const auto product = catalog::load_product(scenario.product);
  if (!product) return fail(product.error());
  std::vector<device::GpuInfo> cards;
  for (unsigned gpu = 0; gpu < scenario.gpus; ++gpu) {
    auto card = card_of(*product);
    card.index = gpu;
    const auto pci = scenario.pci.find(gpu);
    card.pci = pci == scenario.pci.end() ? usual_pci(gpu) : pci->second;
    card.uuid = fmt::format("GPU-{:08}-0000-0000-0000-000000000000", gpu);
    card.serial = fmt::format("serial-{}", gpu);
    const auto instances = scenario.instances.find(gpu);
    const unsigned count = instances == scenario.instances.end() ? 0 : instances->second;
    card.mig_enabled = count > 0;
    for (unsigned n = 0; n < count; ++n) {
      card.migs.push_back(
          {.uuid = fmt::format("MIG-{}-{}", gpu, n), .profile = "1g.10gb", .gpu_instance = n + 7});
    }
    cards.push_back(std::move(card));
  }
  add_links(cards, scenario);
  return cards;
}

FieldValues sound_card(const device::GpuInfo& card) {
  constexpr int gpu_idle = 1;  // nvmlClocksEventReasonGpuIdle
  FieldValues values = {
      {FieldId::temperature, whole(40)},
      {FieldId::power, real(90)},
      {FieldId::power_limit, real(card.power_limit_default_watts)},
      {FieldId::throttle_reasons, whole(gpu_idle)},
      {FieldId::sm_clock, whole(345)},
      {FieldId::utilization, whole(0)},
      {FieldId::thermal_violation, whole(0)},
      {FieldId::power_violation, whole(0)},
      {FieldId::board_limit_violation, whole(0)},
      {FieldId::reliability_violation, whole(0)},
      {FieldId::ecc_mode, whole(1)},
      {FieldId::ecc_corrected_volatile, whole(0)},
      {FieldId::ecc_uncorrected_volatile, whole(0)},
      {FieldId::ecc_corrected_aggregate, whole(0)},
      {FieldId::ecc_uncorrected_aggregate, whole(0)},
      {FieldId::recovery_action, whole(0)},
      {FieldId::pcie_replays, whole(0)},
      {FieldId::pcie_generation, whole(card.max_pcie_generation)},
      {FieldId::pcie_width, whole(card.max_pcie_width)},
      {FieldId::persistence_mode, whole(1)},
      {FieldId::inforom_valid, whole(1)},
  };
  const bool remaps = card.architecture != "turing" && card.architecture != "volta";
  for (const auto id : {FieldId::remapped_rows_uncorrectable, FieldId::remapped_rows_correctable,
                        FieldId::row_remap_failure, FieldId::row_remap_pending}) {
    if (remaps) values.emplace_back(id, whole(0));
  }
  for (const auto id :
       {FieldId::retired_pages_sbe, FieldId::retired_pages_dbe, FieldId::retired_pages_pending}) {
    if (!remaps) values.emplace_back(id, whole(0));
  }
  if (card.max_memory_celsius > 0) values.emplace_back(FieldId::memory_temperature, whole(50));
  if (card.architecture == "hopper") values.emplace_back(FieldId::thermal_margin, whole(45));
  // NVML_GPU_FABRIC_STATE_COMPLETED
  if (!card.nvlinks.empty()) values.emplace_back(FieldId::fabric_state, whole(3));
  return values;
}

FieldValues sound_link() {
  return {{FieldId::nvlink_state, whole(1)},
          {FieldId::nvlink_crc_errors, whole(0)},
          {FieldId::nvlink_replay_errors, whole(0)},
          {FieldId::nvlink_recovery_errors, whole(0)}};
}

FieldValues sound_node() {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  return {{FieldId::shm_total, whole(64 * gib)},
          {FieldId::shm_used, whole(gib)},
          {FieldId::data_disk_total, whole(100 * gib)},
          {FieldId::data_disk_free, whole(80 * gib)},
          {FieldId::cache_disk_total, whole(1000 * gib)},
          {FieldId::cache_disk_free, whole(800 * gib)},
          {FieldId::memory_total_host, whole(512 * gib)},
          {FieldId::memory_available, whole(400 * gib)}};
}

bool set_card_word(device::GpuInfo& card, std::string_view word, double value) {
  const std::map<std::string_view, int device::GpuInfo::*> degrees = {
      {"slowdown_celsius", &device::GpuInfo::slowdown_celsius},
      {"shutdown_celsius", &device::GpuInfo::shutdown_celsius},
      {"max_memory_celsius", &device::GpuInfo::max_memory_celsius},
      {"max_operating_celsius", &device::GpuInfo::max_operating_celsius}};
  if (const auto found = degrees.find(word); found != degrees.end()) {
    card.*found->second = static_cast<int>(value);
    return true;
  }
  const std::map<std::string_view, std::uint32_t device::GpuInfo::*> numbers = {
      {"max_sm_clock_mhz", &device::GpuInfo::max_sm_clock_mhz},
      {"max_memory_clock_mhz", &device::GpuInfo::max_memory_clock_mhz},
      {"max_pcie_generation", &device::GpuInfo::max_pcie_generation},
      {"max_pcie_width", &device::GpuInfo::max_pcie_width}};
  const auto found = numbers.find(word);
  if (found == numbers.end() || value < 0) return false;
  card.*found->second = static_cast<std::uint32_t>(value);
  return true;
}

}  // namespace stoker::scenario
