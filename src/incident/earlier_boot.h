// Incident stage: what the boot before this one said last, as signals. Evidence alone: whatever was said then, the action
// is to look. Pure.
#pragma once

#include <vector>

#include "incident/signal.h"
#include "model/incident.h"
#include "model/previous_boot.h"

namespace stoker::incident {

// What was said of one GPU or NVSwitch before the node went down uncleanly.
struct LastWords {
  Signal about;                 // one incident of `before-unclean-reboot`, now
  std::vector<Evidence> lines;  // oldest first, at least one
};

// Of faults of cards, their links and their driver that ask for something to be done; not of programs' faults, nor of what
// a PCIe port or the host says. Empty where that boot ended cleanly, or it can't be told.
std::vector<LastWords> last_words(const PreviousBoot& boot, const NodeView& node, WallTime now);

// One boot as it is remembered, so that nothing of it is heard twice: its id, else when its dump was written.
std::string name_of(const PreviousBoot& boot);

}  // namespace stoker::incident
