// PCI Express and host memory, as the kernel's own drivers say it. Linux: drivers/pci/pcie/aer.c,
// drivers/pci/hotplug/pciehp_ctrl.c, drivers/edac/edac_mc.c.
#include <array>

#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {
namespace {

// "Corrected" until 6.10, "Correctable" since; "Uncorrected (Non-Fatal)", "Uncorrectable (Fatal)".
std::string_view severity_of(std::string_view text) {
  if (text.find("(Non-Fatal)") != std::string_view::npos) return "nonfatal";
  if (text.find("(Fatal)") != std::string_view::npos) return "fatal";
  if (text.find("Correct") != std::string_view::npos) return "corrected";
  return {};
}

std::string sign_of(std::string_view severity) {
  return severity.empty() ? "aer" : "aer_" + std::string(severity);
}

// "AER: Corrected error received: 0000:00:1d.0", "AER: Multiple Uncorrectable (Fatal) error message received
// from 0000:3b:00.0": what the root port tells; the device that it names is the one at fault.
std::optional<Event> read_received(Cursor cursor, Event event) {
  if (!cursor.take("AER: ")) return std::nullopt;
  cursor.take("Multiple ");
  const auto at = cursor.rest().find(" received");
  if (at == std::string_view::npos || cursor.rest().find(" error") > at) return std::nullopt;
  const auto severity = severity_of(cursor.rest().substr(0, at));
  if (severity.empty()) return std::nullopt;
  event.kind = EventKind::aer;
  event.sign = sign_of(severity);
  add_detail(event, "reported_by", "root_port");
  for (const std::string_view mark : {" received: ", " received from "}) {
    auto place = behind(cursor.rest(), mark);
    if (const auto pci = place ? leading_pci(place->rest()) : std::nullopt) event.pci = pci;
  }
  return event;
}

// "PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)"
std::optional<Event> read_bus_error(Cursor cursor, Event event) {
  cursor.take("AER: ");
  if (!cursor.take("PCIe Bus Error: severity=")) return std::nullopt;
  const auto severity = severity_of(cursor.rest().substr(0, cursor.rest().find(", type=")));
  event.kind = EventKind::aer;
  event.sign = sign_of(severity);
  if (auto type = behind(cursor.rest(), "type=")) {
    add_detail(event, "layer", type->rest().substr(0, type->rest().find(',')));
  }
  return event;
}

// "pciehp: Slot(0): Link Down"
std::optional<Event> read_hotplug(Cursor cursor, Event event) {
  if (!cursor.take("pciehp: Slot(")) return std::nullopt;
  const auto slot = cursor.take_until("): ");
  if (!slot) return std::nullopt;
  event.kind = EventKind::link;
  add_detail(event, "slot", *slot);
  if (cursor.take("Link Down")) {
    event.sign = "pcie_link_down";
  } else if (cursor.take("Card not present")) {
    event.sign = "pcie_card_gone";
  } else {
    return std::nullopt;
  }
  return event;
}

// "EDAC MC0: 1 UE on DIMM_0_CH0 (...)"
std::optional<Event> read_memory(std::string_view text) {
  Cursor cursor(text);
  if (!cursor.take("EDAC MC")) return std::nullopt;
  const auto controller = cursor.take_number<std::uint32_t>();
  if (!controller || !cursor.take(": ")) return std::nullopt;
  const auto count = cursor.take_number<std::uint32_t>();
  if (!count) return std::nullopt;
  const bool corrected = cursor.take(" CE ");
  if (!corrected && !cursor.take(" UE ")) return std::nullopt;
  Event event{.kind = EventKind::ecc,
              .sign = corrected ? "host_memory_corrected" : "host_memory_uncorrected",
              .text = std::string(text)};
  add_detail(event, "controller", std::to_string(*controller));
  add_detail(event, "count", std::to_string(*count));
  return event;
}

}  // namespace

std::optional<Event> read_bus(std::string_view text) {
  if (text.starts_with("EDAC ")) return read_memory(text);
  // "<driver> <address>: ...": the driver is pcieport, nvidia, mlx5_core, nvme, ...
  Cursor cursor(text);
  const auto driver = cursor.take_until(" ");
  if (!driver || driver->empty() || driver->back() == ':') return std::nullopt;
  const auto pci = leading_pci(cursor.rest());
  if (!pci || !cursor.take_until(": ")) return std::nullopt;
  Event event{.pci = pci, .text = std::string(text)};
  add_detail(event, "driver", *driver);
  using Reader = std::optional<Event> (*)(Cursor, Event);
  for (const Reader reader : {&read_received, &read_bus_error, &read_hotplug}) {
    if (auto found = reader(cursor, event)) return found;
  }
  return std::nullopt;
}

}  // namespace stoker::event
