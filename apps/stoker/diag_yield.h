// Composition: does somebody need the cards that `stoker diag` tests while they are idle?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/measurement.h"
#include "diag/plan.h"
#include "diag_node.h"

namespace stoker::app {

class YieldWatch {
 public:
  YieldWatch(const DiagNode& node, const diag::Plan& plan);

  // Our own worker, as this process counts; where the driver counts in another namespace, it is nobody's, and the run is
  // given up.
  void set_worker(int pid) { worker_ = pid; }
  // Why the run is to be given up: a process of somebody else, processes that can't be read any more, or whoever started this
  // program is gone. Empty: nothing.
  [[nodiscard]] std::string reason() const;

 private:
  const DiagNode& node_;
  std::vector<std::uint32_t> gpus_;
  const int parent_;
  int worker_ = 0;
};

// Is a card of the node in use, as far as is known, that none of these measurements is of? Not known counts as use.
bool are_others_used(const store::Snapshot& snapshot, const std::vector<diag::Measurement>& found);

}  // namespace stoker::app
