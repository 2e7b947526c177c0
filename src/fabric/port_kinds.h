// Fabric analyzer: a node's ports among those of their kind: of one model, board and link layer. What most of them have is what
// one of them should have; where there is no such majority, nobody knows.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "model/rdma_port.h"

namespace stoker::fabric {

// Has it a link, by what it tells? Neither is so of one that tells nothing.
bool is_linked(const RdmaPort& port);
bool is_down(const RdmaPort& port);

// Of a port's rate, "400 Gb/sec (4X NDR)"; 0: not told.
double gbps_of(const std::string& rate);

// An IPv4 or global address under RoCE v2: neither a link-local GID nor RoCE v1 is routed.
bool has_routable_gid(const RdmaPort& port);

// Model, board and link layer are the same.
bool same_kind(const RdmaPort& one, const RdmaPort& other);

class PortKinds {
 public:
  // `ports` has to outlive this.
  explicit PortKinds(std::span<const RdmaPort> ports) : ports_(ports) {}

  struct Share {
    std::size_t so = 0;
    std::size_t ports = 0;  // with this one
  };
  // Of the ports of its kind, how many have a link.
  [[nodiscard]] Share up(const RdmaPort& port) const;
  // The rate that more than half of the linked ports of its kind have, be it this one's or not; nullopt: there is no such.
  [[nodiscard]] std::optional<std::string> rate_of_most(const RdmaPort& port) const;
  // The rate that more than half of the linked ports of its kind have, where it is a higher one; nullopt: there is no
  // such rate, or this one has it.
  [[nodiscard]] std::optional<std::string> usual_rate(const RdmaPort& port) const;
  // Likewise the MTU of their network devices, where this one's is another.
  [[nodiscard]] std::optional<unsigned> usual_mtu(const RdmaPort& port) const;
  // Has ECN for no priority, where most of its kind have it for one.
  [[nodiscard]] bool lacks_ecn(const RdmaPort& port) const;

 private:
  std::span<const RdmaPort> ports_;
};

}  // namespace stoker::fabric
