// Fabric analyzer: what the payloads of management datagrams say. Pure: bytes in, values out; bytes that are not there
// are an error, never read.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "fabric/sweep.h"

namespace stoker::fabric {

using Bytes = std::span<const std::uint8_t>;

// PortInfo (volume 1, 14.2.5.6), 64 bytes: states, width and speed. Neither the peer nor counters come from it.
Result<Port> decode_port_info(Bytes payload);
// Its LID, by which its agent is reached; 0: the subnet manager has given it none.
Result<std::uint16_t> decode_lid(Bytes payload);

// What a port's performance agent can count (ClassPortInfo, 16.1.3.1).
struct CounterAbilities {
  bool wide_traffic = false;  // CapabilityMask bits 9 and 10
  bool wide_errors = false;   // CapabilityMask2 bit 1
  bool xmit_wait = false;     // CapabilityMask bit 12
};
Result<CounterAbilities> decode_abilities(Bytes payload);

// PortCounters (16.1.3.5): all counters at their narrow widths.
Result<void> decode_counters(Bytes payload, const CounterAbilities& abilities, Counters& into);
// PortCountersExtended (16.1.4.11): those that are wide take the place of the narrow ones.
Result<void> decode_wide_counters(Bytes payload, const CounterAbilities& abilities, Counters& into);

// NodeDescription: up to the first NUL; what a terminal would take for an order is blank.
std::string decode_node_name(Bytes payload);
// NodeType of NodeInfo (14.2.5.3).
NodeKind decode_node_kind(unsigned type);

}  // namespace stoker::fabric
