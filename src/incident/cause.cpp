#include "incident/cause.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace stoker::incident {
namespace {

enum class Id : std::uint8_t {
#define STOKER_CAUSE(id, ...) id,
#include "incident/causes.def"
#undef STOKER_CAUSE
};

// The words of causes.def's columns.
namespace how_it_ends {
constexpr bool stands = true;
constexpr bool passes = false;
}  // namespace how_it_ends
namespace in_maintenance {
constexpr bool told = true;
constexpr bool held = false;
}  // namespace in_maintenance

const std::vector<Cause>& rows() {
  static const std::vector<Cause> all = {
#define STOKER_CAUSE(id, word, family, rank, severity, quiet, stands, maintenance, title) \
  {word,                                                                                  \
   Family::family,                                                                        \
   rank,                                                                                  \
   Severity::severity,                                                                    \
   std::chrono::seconds(quiet),                                                           \
   how_it_ends::stands,                                                                   \
   in_maintenance::maintenance,                                                           \
   title},
#include "incident/causes.def"
#undef STOKER_CAUSE
  };
  return all;
}

// Where the number says more than its level in the catalogue does.
constexpr auto xids = std::to_array<std::pair<std::uint32_t, Id>>({
    {79, Id::gpu_off_bus},
    {46, Id::gpu_firmware},   // GPU_TIMEOUT_ERROR
    {62, Id::gpu_firmware},   // PMU_HALT_ERROR
    {119, Id::gpu_firmware},  // GSP_RPC_TIMEOUT
    {120, Id::gpu_firmware},  // GSP_ERROR
    {143, Id::gpu_firmware},  // GPU_INIT_ERROR
    {158, Id::gpu_firmware},  // GPU_FATAL_TIMEOUT
    {169, Id::gpu_firmware},  // SEC2_HALT_ERROR
    {48, Id::memory_uncorrectable},
    {95, Id::memory_uncorrectable},
    {140, Id::memory_uncorrectable},
    {171, Id::memory_uncorrectable},
    {172, Id::memory_uncorrectable},
    {64, Id::memory_repair_failed},
    {94, Id::memory_contained},
    {63, Id::memory_repair},
    {92, Id::memory_errors},
    {156, Id::memory_repair},
    {157, Id::memory_repair},
    {160, Id::memory_repair},
    {161, Id::memory_repair},
    {168, Id::memory_repair},
    {121, Id::c2c},
    {159, Id::c2c},  // CHI_NON_DATA_ERROR
    {173, Id::c2c},
    {154, Id::driver_asks},
    {167, Id::pcie},
    {176, Id::pcie},
});

// Of every other Xid.
constexpr auto levels = std::to_array<std::pair<FaultLevel, Id>>({
    {FaultLevel::application, Id::application},
    {FaultLevel::hardware, Id::gpu_hardware},
    {FaultLevel::driver, Id::driver_fault},
    {FaultLevel::link, Id::nvlink},
    {FaultLevel::info, Id::notice},
});

using Named = std::pair<std::string_view, Id>;

// catalog/kernel_signs.def.
constexpr auto signs = std::to_array<Named>({
    {"off_bus", Id::gpu_off_bus},
    {"init_failed", Id::gpu_firmware},
    {"gsp_init_failed", Id::gpu_firmware},
    {"gsp_heartbeat", Id::gpu_firmware},
    {"reset_required", Id::driver_asks},
    {"gpu_ecc_uncorrected", Id::memory_uncorrectable},
    {"host_memory_corrected", Id::host_memory},
    {"host_memory_uncorrected", Id::host_memory},
    {"aer", Id::pcie},
    {"aer_corrected", Id::pcie},
    {"aer_nonfatal", Id::pcie},
    {"aer_fatal", Id::pcie},
    {"pcie_link_down", Id::pcie},
    {"pcie_card_gone", Id::pcie},
    {"nic_module_error", Id::network},
    {"nic_cable_unplugged", Id::network},
    {"nic_health", Id::network},
    {"nic_slot_power", Id::network},
    {"nic_command_timeout", Id::network},
    {"nic_link_down", Id::network},
    {"nic_transmit_timeout", Id::network},
    {"cgroup_oom", Id::out_of_memory},
    {"host_oom", Id::out_of_memory},
    {"fabric_manager_version", Id::service},
    {"fabric_manager_error", Id::service},
    {"unit_failed", Id::service},
});

// Findings that are the same trouble as a line of the kernel.
constexpr auto rules = std::to_array<Named>({
    {"gpu-lost", Id::gpu_off_bus},
    {"gpu-unopened", Id::gpu_unopened},
    {"gpu-hung", Id::gpu_hung},
    {"recovery-action", Id::driver_asks},
    {"row-remap-failed", Id::memory_repair_failed},
    {"rows-remapped-limit", Id::memory_repair_failed},
    {"retired-pages-limit", Id::memory_repair_failed},
    {"row-remap-pending", Id::memory_repair},
    {"retired-page-pending", Id::memory_repair},
    // A count says less than the line about the same error, which names the incident.
    {"ecc-uncorrected", Id::memory_errors},
    {"ecc-uncorrected-repeats", Id::memory_errors},
    {"ecc-progression", Id::memory_errors},
    {"xid-memory-repeats", Id::memory_uncorrectable},
    {"nvlink-down", Id::nvlink},
    {"nvlink-fewer", Id::nvlink},
    {"nvlink-recoveries", Id::nvlink},
    {"nvlink-replays", Id::nvlink},
    {"nvlink-crc", Id::nvlink},
    {"xid-nvlink-repeats", Id::nvlink},
    {"pcie-replays", Id::pcie},
    {"pcie-width", Id::pcie},
    {"pcie-generation", Id::pcie},
    // Of an RDMA port. What somebody set there (an MTU, an address) is a matter of its own.
    {"port-down", Id::network},
    {"port-gone", Id::network},
    {"port-slow", Id::network},
    {"port-flapping", Id::network},
    {"ports-lost-together", Id::network},
    {"port-errors", Id::network},
    {"port-packets-lost", Id::network},
    {"port-path-broken", Id::network},
    {"port-counter-full", Id::network},
    {"temperature-operating", Id::heat},
    {"temperature-slowdown", Id::heat},
    {"temperature-shutdown", Id::heat},
    {"thermal-margin", Id::heat},
    {"memory-temperature", Id::heat},
    {"hot-card", Id::heat},
    {"throttle-hw-thermal", Id::heat},
    {"throttle-sw-thermal", Id::heat},
    {"lost-to-heat", Id::heat},
    {"throttle-power-brake", Id::power},
    {"lost-to-power", Id::power},
    {"lost-to-board", Id::power},
    {"inforom-corrupted", Id::gpu_hardware},
    {"diag-failed", Id::failed_test},
    {"straggler", Id::pace},
    {"readings-stale", Id::unread},
    {"readings-failed", Id::unread},
    {"gpu-silent", Id::unread},
    {"gpus-silent", Id::unread},
    {"temperature-unreadable", Id::unread},
});

// What follows from what. NVIDIA's catalogue (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html)
// calls Xids 43 and 45 what follows another one, links 154 to whatever made the driver ask, and has 48 come with 63,
// 64, 94 or 95 about the same memory. A GPU that is gone answers nothing: every complaint about it, its links and its
// firmware follows. One whose clocks are held down by heat or power is slower than its job's others for that.
using enum Family;
constexpr auto followers = std::to_array<std::pair<Family, Family>>({
    {unopened, bus},       {unopened, firmware},  {firmware, bus},    {memory, bus},
    {board, bus},          {link, bus},           {pcie, bus},        {driver, bus},
    {application, bus},    {link, firmware},      {driver, firmware}, {application, firmware},
    {driver, memory},      {application, memory}, {driver, board},    {application, board},
    {driver, link},        {application, link},   {driver, pcie},     {application, pcie},
    {application, driver}, {pace, heat},          {pace, power},
});

const Cause& row(Id id) { return rows().at(static_cast<std::size_t>(id)); }

template <typename Table, typename Key>
const Cause* find(const Table& table, const Key& key) {
  const auto* at = std::ranges::find(table, key, &Table::value_type::first);
  return at == table.end() ? nullptr : &row(at->second);
}

Cause own(std::string_view word, Severity severity) {
  Cause cause;
  cause.word = word;
  cause.severity = severity;
  return cause;
}

}  // namespace

const Cause& cause_of_xid(std::uint32_t number, std::optional<FaultLevel> level) {
  if (const auto* found = find(xids, number)) return *found;
  const auto* found = level ? find(levels, *level) : nullptr;
  return found == nullptr ? row(Id::xid_not_documented) : *found;
}

const Cause& cause_of_sxid() { return row(Id::nvswitch); }

const Cause* cause_of_sign(std::string_view sign) { return find(signs, sign); }

const Cause& cause_before_reboot() { return row(Id::before_reboot); }

Cause cause_of_rule(std::string_view rule, Severity severity) {
  const auto* found = find(rules, rule);
  return found == nullptr ? own(rule, severity) : *found;
}

Cause cause_named(std::string_view word, Severity severity) {
  const auto found = std::ranges::find(rows(), word, &Cause::word);
  return found == rows().end() ? own(word, severity) : *found;
}

bool follows(Family what, Family head) {
  return std::ranges::find(followers, std::pair(what, head)) != followers.end();
}

}  // namespace stoker::incident
