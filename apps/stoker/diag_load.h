// Composition: what comes over cards while `stoker diag` has them work: the kernel's log from the beginning of the work on,
// and a second look at their state when it has ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"
#include "diag/under_load.h"
#include "diag_log.h"
#include "diag_node.h"
#include "diag_state.h"

namespace stoker::app {

class DiagLoad {
 public:
  // `before`: of the node, from now on.
  DiagLoad(const DiagNode& node, const config::Settings& settings, diag::StateLook before);

  // Now these, by index, are set to work.
  void begin(std::vector<std::uint32_t> gpus);
  // The work is over, or was given up.
  void end();
  // Looks again, by a probe of its own, so that every value is read anew (`data`: as DiagNode::open's). `node` is what
  // watched meanwhile. `stop`: leaves it; `leave_it`: as DiagNode::open's.
  std::vector<diag::TestResult> look_again(const DiagNode& node, const std::string& data,
                                           bool shared, const AskedToStop& stop,
                                           const AskedToStop& leave_it);
  // For people; empty: nothing to be said.
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  void hear(diag::UnderLoad& load);
  std::vector<diag::TestResult> not_looked(const std::string& reason) const;

  const config::Settings& settings_;
  DiagLog log_;
  diag::UnderLoad load_;
  std::string note_;
};

}  // namespace stoker::app
