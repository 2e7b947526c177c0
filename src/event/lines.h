// Event stage: one reader a family of lines. Each takes the line from its first character on, and answers
// nullopt where the line is none of its own. Only event_parser.cpp and tests see them.
#pragma once

#include <optional>
#include <string_view>

#include "model/event.h"

namespace stoker::event {

// "NVRM: Xid (PCI:0000:3b:00): 79, ...", with its front cut off or not.
std::optional<Event> read_xid(std::string_view text);
// The sub-fields that the text of some Xids has.
void read_xid_details(std::string_view text, Event& event);
// "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, ..."
std::optional<Event> read_sxid(std::string_view text);
// NVRM lines without a number that mean a fault.
std::optional<Event> read_nvrm(std::string_view text);
// AER, PCIe hot plug, EDAC.
std::optional<Event> read_bus(std::string_view text);
// mlx5_core.
std::optional<Event> read_nic(std::string_view text);
// "Out of memory: Killed process ..." of the kernel.
std::optional<Event> read_oom(std::string_view text);
// What `program` says about itself or about a service.
std::optional<Event> read_service(std::string_view text, std::string_view program);

// "0000:3b:00.0" at the front of `text`, up to a blank or ": "; nullopt if it is none.
std::optional<PciAddress> leading_pci(std::string_view text);

void add_detail(Event& event, std::string_view name, std::string_view value);

}  // namespace stoker::event
