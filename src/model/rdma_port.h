// Ground stage: one port of an RDMA card of this node, as sysfs shows it. os/rdma_ports.h reads it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/pci_address.h"

namespace stoker {

struct RdmaGid {
  unsigned index = 0;
  std::string gid;     // "fe80:0000:0000:0000:…"; those that are not set are left out
  std::string type;    // "IB/RoCE v1", "RoCE v2"; empty: not told
  std::string netdev;  // empty: none
  friend bool operator==(const RdmaGid&, const RdmaGid&) = default;
};

struct RdmaPort {
  std::string device;  // "mlx5_0"
  unsigned port = 1;
  std::optional<PciAddress> pci;  // none: a software device (rxe, siw)
  std::string model;              // "MT4129"; empty: not told, as each of these
  std::string board;              // "MT_0000000838", the vendor's name of the card
  std::string firmware;           // "28.39.1002"
  std::string link_layer;         // "InfiniBand", "Ethernet"
  std::string state;              // "ACTIVE"
  std::string physical;           // "LinkUp"
  std::string rate;               // "400 Gb/sec (4X NDR)"
  std::optional<unsigned> lid;
  std::optional<unsigned> sm_lid;
  std::vector<RdmaGid> gids;
  std::string netdev;           // of its first GID that has one
  std::optional<unsigned> mtu;  // bytes, of netdev
  // ECN by priority, 0 to 7, of mlx5's /sys/class/net/DEV/ecn: is congestion noticed (np), is it reacted to (rp)?
  std::map<unsigned, bool> ecn_notices;
  std::map<unsigned, bool> ecn_reacts;
  std::map<std::string, std::uint64_t> counters;  // of counters/ and hw_counters/, by name
  std::vector<std::string> unread;                // "counters/symbol_error: why"
};

// A device that was there at an earlier look of the same reader.
struct AbsentRdmaDevice {
  std::string device;
  std::optional<PciAddress> pci;
  bool on_bus = false;  // its PCI function is there still
  std::string driver;   // that it was given to: "vfio-pci"; empty: none has it, or its own still
  friend bool operator==(const AbsentRdmaDevice&, const AbsentRdmaDevice&) = default;
};

struct RdmaPorts {
  MonotonicTime at;
  std::vector<RdmaPort> ports;  // by device, mlx5_2 before mlx5_10, and number
  std::string problem;          // why none could be listed (not for want of them); empty: they were
  std::vector<std::string> unread;  // devices whose ports could not be listed: "mlx5_3: why"
  std::vector<AbsentRdmaDevice> absent;
};

}  // namespace stoker
