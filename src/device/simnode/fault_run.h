// Simulated node: carries an injection out: checks, state, kernel log, files, in this order.
#pragma once

#include <string>

#include "base/result.h"
#include "device/sim/state_file.h"
#include "device/simnode/faults.h"

namespace stoker::simnode {

// Where a node lies.
struct Place {
  std::string folder;   // DATA/sim
  std::string machine;  // the machine's name

  [[nodiscard]] std::string state() const { return folder + "/state"; }
  [[nodiscard]] std::string root() const { return folder + "/root"; }
  [[nodiscard]] std::string kernel_log() const { return root() + "/dev/kmsg"; }
  // Files of the root that are not shown now: those of vanished GPUs and of an unloaded driver.
  [[nodiscard]] std::string aside() const { return folder + "/aside"; }
};

// The rows that "2", a UUID, a PCI address or "all" means; invalid_input lists what there is.
Result<std::vector<unsigned>> find_gpus(const sim::State& state, const std::string& text);

// Checks the arguments of `request` against the row.
Result<void> check_request(const FaultRow& row, const FaultRequest& request);

// Makes the root's /proc show the processes that the state has.
Result<void> show_processes(const sim::StateFile& file, const Place& place);

// Applies one change: the state as one publication, then kernel lines and files.
Result<std::string> run_change(sim::StateFile& file, const Place& place, Apply apply,
                               const FaultRequest& request);

}  // namespace stoker::simnode
