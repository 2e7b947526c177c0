// Composition: who is on the cards of the node while `stoker diag` tests some of them?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/plan.h"
#include "diag_node.h"

namespace stoker::app {

inline constexpr const char* starter_gone = "whoever started this is gone";

class YieldWatch {
 public:
  YieldWatch(const DiagNode& node, const diag::Plan& plan, int parent);

  // Our own worker, as this process counts; where the driver counts in another namespace, it is nobody's, and the run is
  // given up.
  void set_worker(int pid) { worker_ = pid; }
  // Why the run is to be given up: a process of somebody else, processes that can't be read any more, or whoever started this
  // program is gone. Empty: nothing.
  [[nodiscard]] std::string reason() const;

  // One look; what was seen stays. `ended`: the worker is gone, so that whoever is there is somebody else. Before that a
  // process of a real card counts only where the worker is listed beside it: else the driver counts in another namespace.
  void look(const store::Snapshot& snapshot, bool ended);
  // Was another card of the node in use at any look? Not known counts as use.
  [[nodiscard]] bool others_used() const { return others_used_; }
  // Who was on a card that is tested, or why that is not known; empty: nobody.
  [[nodiscard]] const std::string& user() const { return user_; }

 private:
  const DiagNode& node_;
  std::vector<std::uint32_t> gpus_;
  const int parent_;
  int worker_ = 0;
  bool others_used_ = false;
  std::string user_;
};

}  // namespace stoker::app
