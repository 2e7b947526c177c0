// Test support: a node's story as text, read. docs/specs/scenarios.md has the format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/api.h"
#include "model/event.h"
#include "model/incident.h"
#include "model/pci_address.h"
#include "model/reading.h"

namespace stoker::scenario {

// Whatever a file says.
struct Limits {
  static constexpr unsigned gpus = 16;
  static constexpr unsigned links = 18;
  static constexpr unsigned instances = 7;
  static constexpr unsigned lines_at_once = 100'000;
};

// What a step or an expectation is about. Numbers are -1 where it is about all of them.
struct Place {
  enum class Kind : std::uint8_t { node, gpu, link, instance, pci } kind = Kind::node;
  int gpu = 0;
  int number = 0;  // of the link or MIG instance
  std::optional<PciAddress> pci;
};

// A field of the table, or a word of the card.
struct Set {
  Place place;
  std::string field;
  Value value;
  bool more = false;           // value is added to what is there
  Reason reason = Reason::ok;  // else there is no value, for this
};
struct GpuTold {
  int gpu = 0;
  device::GpuState state = device::GpuState::present;
};
// NVML tells it, as it does beside the kernel's line.
struct XidTold {
  int gpu = 0;
  std::uint32_t xid = 0;
};
struct Runs {
  int gpu = 0;
  std::uint32_t pid = 0;  // 0: nothing
  std::string name;
  std::string job;  // Slurm's; empty: not known
};
// A line of a log.
struct Line {
  std::string program;  // "kernel", or what writes into the kernel log or the journal
  bool kernel_log = true;
  unsigned times = 1;
  std::string text;
};
struct SourceTold {
  device::SourceState state = device::SourceState::running;
};
struct DriverTold {
  std::string version;
};
// The agent starts again; with an id the node has booted.
struct Restart {
  std::string boot;
};
struct ClockMoved {
  Nanoseconds by{0};
};
// Somebody begins a planned maintenance; of no length: it is over.
struct Upkeep {
  Nanoseconds length{0};
};
// What a person does to the open incident of this cause.
struct Asked {
  std::string cause;
  IncidentState to = IncidentState::acknowledged;
};
struct ExpectFinding {
  bool none = false;
  std::string rule;  // empty: any
  std::optional<Place> place;
};
struct ExpectIncident {
  bool none = false;
  std::string cause;  // empty: any
  std::optional<Place> place;
  std::map<std::string, std::string> members;  // "severity": "critical"
};
// So many incidents that are not over.
struct ExpectCount {
  std::size_t incidents = 0;
};
struct ExpectVerdict {
  std::string word;
};

using Act =
    std::variant<Set, GpuTold, XidTold, Runs, Line, SourceTold, DriverTold, Restart, ClockMoved,
                 Upkeep, Asked, ExpectFinding, ExpectIncident, ExpectCount, ExpectVerdict>;

struct Step {
  Nanoseconds at{0};  // before zero: in the kernel's log when the agent starts
  unsigned line = 0;
  Act act;
};

struct Scenario {
  std::string file;
  std::string name;
  std::string source;
  unsigned gpus = 4;
  std::string product = "h100-80gb";
  std::string driver = "580.159.04";
  std::string boot = "boot-1";
  unsigned links = 0;
  bool links_to_gpus = false;
  std::map<unsigned, PciAddress> pci;      // where a GPU is, if a line of a log says so
  std::map<unsigned, unsigned> instances;  // MIG, by GPU
  std::vector<std::string> also;  // rules and causes that may come and that no line expects
  std::vector<Step> steps;
};

// Errors (invalid_input) say file, line and what would be right.
Result<Scenario> read(std::string_view text, const std::string& file);

}  // namespace stoker::scenario
