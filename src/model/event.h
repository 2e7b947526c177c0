// Ground stage: something that happened to a GPU or to what it hangs on, as the kernel, the driver or a
// service said it. An event has the time of its origin, and a place in its source by which reading the
// same line again is known.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/pci_address.h"

namespace stoker {

enum class EventKind : std::uint8_t { xid, sxid, ecc, aer, nvrm, oom, link, service };

// Stable lower-case word, e.g. "sxid".
const char* to_string(EventKind kind);

// Two events with the same origin are the same event read twice.
struct EventOrigin {
  std::string boot;          // boot id; empty where the source does not say
  std::string source;        // "/dev/kmsg", or a file's name
  std::uint64_t offset = 0;  // the record's sequence number, or the byte at which its line begins
  friend auto operator<=>(const EventOrigin&, const EventOrigin&) = default;
};

// A sub-field that only some events have: "link" of an Xid 74, "recovery_to" of an Xid 154.
struct EventDetail {
  std::string name;
  std::string value;
  friend bool operator==(const EventDetail&, const EventDetail&) = default;
};

struct Event {
  EventKind kind = EventKind::nvrm;
  std::optional<std::uint32_t> code;  // of an Xid or SXid; none where its line was cut before it
  std::string sign;                   // what was said, where no number says it: "off_bus"
  std::optional<PciAddress> pci;
  std::optional<std::uint32_t> pid;
  std::string process;
  std::optional<std::uint32_t> gi, ci;  // of a MIG instance
  std::vector<EventDetail> details;
  std::string text;  // as it was said, without what the log put before it
  std::optional<WallTime> time;
  EventOrigin origin;
};

// The value of the detail `name`; empty: the event has none.
std::string_view detail(const Event& event, std::string_view name);

}  // namespace stoker
