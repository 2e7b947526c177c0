// Device stage: what agent and probe tell one another over a SOCK_SEQPACKET socket. One message a
// packet; each begins with a magic word, the version and its kind, so that an agent that was updated
// under a running probe refuses it with a clear error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/api.h"
#include "device/probe/rates.h"
#include "model/pci_address.h"
#include "model/reading.h"

namespace stoker::device::probe {

inline constexpr std::uint16_t protocol_version = 3;
// Fits the kernel's default socket buffer (net.core.wmem_default, 212,992 bytes) with its overhead.
inline constexpr std::size_t max_message_bytes = 96 * 1024;
// A Readings message carries at most this many; a round with more is sent as several.
inline constexpr std::size_t max_readings_per_message = 1024;
inline constexpr std::size_t max_processes_per_message = 1024;

// Which GPUs a probe opens.
struct Scope {
  // Starting the driver is to touch no GPU, as far as the driver can (docs/adr/0004-no-attach.md).
  bool no_attach = false;
  // Set: these and no others, by address, possibly none. Not set: all that the driver counts.
  std::optional<std::vector<PciAddress>> only;
  friend bool operator==(const Scope&, const Scope&) = default;
};

// Agent to probe, first of all.
struct Configure {
  std::string library;
  Scope scope;
  SampleRates rates;
  Nanoseconds heartbeat = Seconds(1);
  Nanoseconds leave_after = Seconds(45);  // a call under way is waited for until it is this old
};
// Agent to probe: let go of everything and exit. So does the end of the stream. Exiting kills threads
// inside the driver, so a call under way is given until Configure::leave_after to come back.
struct Leave {};

// Probe to agent, before it touches the driver.
struct Hello {
  std::uint32_t pid = 0;
};
// `running`, or why not. A probe that could not start the driver waits to be told to leave.
struct InitResult {
  SourceState state = SourceState::failed;
  std::string detail;
};
struct DriverTold {
  DriverInfo info;
};
struct Unopened {
  std::optional<PciAddress> pci;  // where known
  std::uint32_t index = 0;
  Reason reason = Reason::failed;
  std::string detail;
};
// A GPU whose opening has not returned yet.
struct Opening {
  std::uint32_t index = 0;
  std::optional<PciAddress> pci;  // where known
};
struct Inventory {
  std::vector<GpuInfo> gpus;
  std::vector<Unopened> unopened;
  std::vector<Opening> opening;
};
struct Readings {
  PciAddress gpu;
  std::vector<TargetReading> readings;
};
struct Processes {
  PciAddress gpu;
  Reading outcome;
  std::vector<ProcessInfo> processes;
};
struct Costs {
  PciAddress gpu;
  std::vector<CallCost> costs;
};
struct Xid {
  PciAddress gpu;
  std::uint32_t xid = 0;
  MonotonicTime at;
};

// What one thread of the probe is doing.
struct ThreadState {
  // `opening`: of a GPU whose address is not known yet.
  enum class Kind : std::uint8_t { init, gpu, events, opening } kind = Kind::init;
  PciAddress gpu;                      // of kind gpu
  std::uint32_t index = 0;             // of kind opening
  Getter getter = Getter::count_;      // count_: opening, or none
  std::optional<MonotonicTime> since;  // when the call under way began; none: not in the driver
};
// From the thread that never calls the driver: it comes also while every other thread is stuck.
struct Heartbeat {
  MonotonicTime at;
  std::uint64_t dropped = 0;  // messages given up because the agent did not read
  std::vector<ThreadState> threads;
};

using Message = std::variant<Configure, Leave, Hello, InitResult, DriverTold, Inventory, Readings,
                             Processes, Costs, Xid, Heartbeat>;

std::string encode(const Message& message);
// The same as a Readings message of a copy of `readings`.
std::string encode_readings(const PciAddress& gpu, std::span<const TargetReading> readings);
// invalid_input: not of this protocol or of another version (the text says which); corrupt: it does
// not hold together. Nothing of a refused message is used.
Result<Message> decode(std::string_view bytes);

}  // namespace stoker::device::probe
