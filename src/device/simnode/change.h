// Simulated node: one injection. A fault's function looks at the request and the state, refuses before
// it has changed anything, and says what the kernel prints and which files move; fault_run.cpp does
// the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/sim/state.h"
#include "device/simnode/kernel_log.h"
#include "device/simnode/port_files.h"
#include "device/simnode/sim_node.h"

namespace stoker::simnode {

// What happens to the fake root, after the state.
struct RootChange {
  enum class Kind : std::uint8_t {
    link_lost,
    link_back,
    gpu_gone,
    gpu_back,
    driver_gone,
    driver_back
  };
  Kind kind = Kind::link_back;
  unsigned gpu = 0;
};

struct Change {
  sim::State& state;
  std::uint64_t now_ns;
  const FaultRequest& request;
  const std::vector<unsigned>& gpus;  // rows that the request means; never empty
  std::vector<KernelLine> lines;
  std::vector<RootChange> root;
  std::vector<PortChange> ports;
  std::string folder;  // of the root, to see what there is

  [[nodiscard]] sim::Gpu& gpu(unsigned row) const { return state.gpus[row]; }
};

using Apply = Result<std::string> (*)(Change&);

// Runs `apply` for each of the change's GPUs.
void for_each_gpu(Change& change, const std::function<void(sim::Gpu&, unsigned)>& apply);

// "GPU 3", "GPUs 0, 1 and 2".
std::string gpu_words(const std::vector<unsigned>& gpus);

// Adds an NVML event; whoever waits for its type gets it.
void add_event(sim::State& state, std::uint64_t type, std::uint64_t data, unsigned gpu);

// Takes a row of State::faults for `pattern` on each of the change's GPUs, that of the same function
// and GPU where there is one. unavailable, and nothing changed, where there are not enough.
Result<void> set_faults(Change& change, const sim::Fault& pattern);

// A whole number of a request: invalid_input names `what` and the range.
Result<std::uint64_t> parse_number(std::string_view text, std::string_view what,
                                   std::uint64_t least, std::uint64_t most);

}  // namespace stoker::simnode
