// Simulated node: what happens to the files of an RDMA port.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::simnode {

struct PortChange {
  enum class Kind : std::uint8_t { down, slow, counted, back };
  Kind kind = Kind::back;
  std::string device;        // "mlx5_3"
  std::string counter;       // of counted: "counters/symbol_error"
  std::uint64_t number = 0;  // of counted: so many more
};

// The devices below `root`, mlx5_2 before mlx5_10.
std::vector<std::string> rdma_devices(const std::string& root);

// `aside`: where the rate is kept that a port has when nothing is wrong with it.
Result<void> change_port(const std::string& root, const std::string& aside,
                         const PortChange& change);

}  // namespace stoker::simnode
