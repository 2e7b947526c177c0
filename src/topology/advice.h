// Topology: which NIC a GPU should use, and what is odd about how things hang together.
#pragma once

#include <string>
#include <vector>

#include "topology/topology.h"

namespace stoker::topology {

// The NICs whose port is active and that are nearest to a GPU; of those the fastest. Empty: none is
// known to be reachable over PCIe.
struct NicChoice {
  std::vector<std::size_t> nics;  // places in Topology::nics
  PcieDistance distance = PcieDistance::sys;
};
NicChoice nearest_nics(const Topology& topology, std::size_t gpu);

// "=mlx5_0,mlx5_1": every NIC that is the nearest of a GPU, as NCCL_IB_HCA takes it ("=": names in full,
// not as beginnings: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-hca).
// Empty: there is none.
std::string nccl_ib_hca(const Topology& topology);

struct Remark {
  std::string about;  // "GPU3", "mlx5_4", or the node's name
  std::string message;
};

// What sets one GPU or NIC apart from its peers to its harm, and what is not known. Empty where all are
// alike.
std::vector<Remark> remarks(const Topology& topology);

}  // namespace stoker::topology
