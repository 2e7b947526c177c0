// Ground stage: what decides whether a network device of a RoCE card loses packets: flow control, priorities, congestion
// control, and what it counted. os/roce_reader.h reads it, one a network device.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace stoker {

inline constexpr std::size_t ethernet_priorities = 8;
using PriorityMask = std::bitset<ethernet_priorities>;

// How a traffic class is served: IEEE 802.1Q, Enhanced Transmission Selection.
enum class TrafficSelection : std::uint8_t { strict, credit_based, ets, vendor, unknown };

// Enhanced Transmission Selection.
struct EtsSettings {
  std::array<std::uint8_t, ethernet_priorities> class_of{};       // by priority
  std::array<std::uint8_t, ethernet_priorities> percent{};        // by traffic class, of "ets"
  std::array<TrafficSelection, ethernet_priorities> selection{};  // by traffic class
  friend bool operator==(const EtsSettings&, const EtsSettings&) = default;
};

// Data Center Bridging as the kernel tells it (include/uapi/linux/dcbnl.h).
struct DcbSettings {
  // Priorities that are paused rather than dropped; nullopt: not told.
  std::optional<PriorityMask> pfc;
  std::optional<EtsSettings> ets;
  std::map<unsigned, unsigned> priority_of_dscp;  // of the application table; empty: none is mapped
  // What priorities are taken from, first the one that is trusted most: "dscp", "pcp", …; nullopt: the driver does not say
  // (mlx5 does not: it trusts DSCP as soon as one is mapped).
  std::optional<std::vector<std::string>> trust;
  friend bool operator==(const DcbSettings&, const DcbSettings&) = default;
};

// IEEE 802.3x, of a whole link and no single priority.
struct PauseSettings {
  bool receives = false;  // stops sending when it is told to
  bool sends = false;     // tells the other end to stop
  friend bool operator==(const PauseSettings&, const PauseSettings&) = default;
};

struct RoceNetdev {
  std::string netdev;                // "eth0"
  std::vector<std::string> devices;  // RDMA devices on it: "mlx5_0"
  std::string driver;                // "mlx5_core"; empty: not told
  bool software =
      false;  // rdma_rxe: its packets pass the kernel's network stack, unlike those of an adapter

  std::optional<DcbSettings> dcb;
  std::string dcb_reason;  // why there is no `dcb`, as each …_reason
  std::optional<PauseSettings> pause;
  std::string pause_reason;
  // Those of `ethtool -S` that have a row in fabric/roce_counters.def, by name.
  std::map<std::string, std::uint64_t> counters;
  std::string counters_reason;

  // Those of the three above that failed, rather than not being supported: "dcb: why".
  std::vector<std::string> unread;

  // mlx5's files; nullopt and empty: there is no such file.
  std::optional<unsigned> cnp_dscp;       // of congestion notices that it sends
  std::optional<unsigned> cnp_priority;   // 802.1p
  std::optional<unsigned> traffic_class;  // IP's ToS byte, forced upon each RoCE connection
  std::optional<unsigned> default_tos;    // of connections made by rdma_cm that do not say
};

struct RoceLook {
  MonotonicTime at;
  std::vector<RoceNetdev> netdevs;  // by name
  std::vector<std::string>
      unread;  // ports below which nothing could be looked at: "mlx5_0 port 1: why"
};

}  // namespace stoker
