// Subnet edge: a sweep from the subnet's own agents: directed-route datagrams find the nodes, and every port's performance
// agent is asked for its counters. Nothing is ever set or cleared.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "fabric/sweep.h"

namespace stoker::fabric {

struct SubnetOptions {
  std::string adapter;        // "mlx5_0"; empty: the first with an active port
  int port = 0;               // 0: its first active one
  Milliseconds timeout{200};  // of one request
  unsigned tries = 3;         // of one request; a node that does not answer them is asked no more
  // How many of all nodes have been asked for their counters; called now and then.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

// Asks one request after the other, so a large fabric takes a while; not from two threads at once (libibmad has globals).
// unavailable: no libraries, no adapter, or no right to use it; the error says what to do.
Result<Sweep> read_subnet(const SubnetOptions& options);

}  // namespace stoker::fabric
