// NVIDIA's network cards, as mlx5_core says it. Linux: drivers/net/ethernet/mellanox/mlx5/core/{events,health,cmd}.c
// and en_main.c; net/sched/sch_generic.c for the watchdog.
#include <array>

#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {
namespace {

struct NicForm {
  std::string_view words;
  std::string_view sign;  // catalog/kernel_signs.def
};

constexpr std::array<NicForm, 8> nic_forms = {{
    {"Port module event[error]:", "nic_module_error"},
    {", Cable unplugged", "nic_cable_unplugged"},
    {"health compromised - reached miss count", "nic_health"},
    {"unrecoverable hardware error", "nic_health"},
    {"Detected insufficient power on the PCIe slot", "nic_slot_power"},
    {"timeout. Will cause a leak of a command resource", "nic_command_timeout"},
    {": Link down", "nic_link_down"},
    {"ransmit queue timed out", "nic_transmit_timeout"},
}};

std::optional<Event> read_watchdog(std::string_view text) {
  // "NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out"
  Cursor cursor(text);
  if (!cursor.take("NETDEV WATCHDOG: ")) return std::nullopt;
  const auto name = cursor.take_until(" (mlx5_core): transmit queue ");
  if (!name || cursor.rest().find("timed out") == std::string_view::npos) return std::nullopt;
  Event event{.kind = EventKind::link, .sign = "nic_transmit_timeout", .text = std::string(text)};
  add_detail(event, "interface", *name);
  return event;
}

}  // namespace

std::optional<Event> read_nic(std::string_view text) {
  if (text.starts_with("NETDEV ")) return read_watchdog(text);
  Cursor cursor(text);
  if (!cursor.take("mlx5_core ")) return std::nullopt;
  const auto pci = leading_pci(cursor.rest());
  if (!pci) return std::nullopt;
  for (const auto& form : nic_forms) {
    if (text.find(form.words) == std::string_view::npos) continue;
    Event event{.kind = EventKind::link,
                .sign = std::string(form.sign),
                .pci = pci,
                .text = std::string(text)};
    if (const auto module = number_behind<std::uint32_t>(text, ": module ")) {
      add_detail(event, "module", std::to_string(*module));
    }
    // "mlx5_core 0000:08:00.0 eth2: Link down" names the interface behind the address.
    cursor.take_until(" ");
    const auto word = cursor.take_until(": ");
    if (form.sign == "nic_link_down" && word) add_detail(event, "interface", *word);
    return event;
  }
  return std::nullopt;
}

}  // namespace stoker::event
