// Health stage: the checks about the ports of the node's own RDMA cards: the rows of fabric/port_rules.def, over one look at
// the ports after the other. Pure, like the other checks: what is found follows from the snapshots alone. Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fabric/node_ports.h"
#include "health/check.h"
#include "health/hold.h"
#include "model/finding.h"
#include "model/rdma_port.h"
#include "store/snapshot.h"

namespace stoker::health {

// Each rule about a port as a check of kind `port`. What tells of the path beyond a port is information here, for a dead peer
// would else open an incident on each node that talked to it; and what somebody set, which may be meant so.
std::vector<Check> port_checks();

class PortChecks {
 public:
  // Of these, those of kind `port` that are enabled. What is remembered of one that was there before is kept.
  void set_checks(const std::vector<Check>& checks);
  // Of before a restart: this was told of the port, and is still so as long as it is not seen to be over.
  void remember(const std::string& rule, const Entity& port);

  // Looks, and finds nothing yet: of a node that is not judged so far. What comes on its ports meanwhile counts later.
  void watch(const store::Snapshot& snapshot);

  // What holds, firing or suspect, in no order. Rules:
  // - What is so at one look has to hold for the check's `for`; what is counted is added up over its `window`, a step from look
  //   to look, so that a counter that is cleared, goes round or stops loses nothing of what came before.
  // - A port that was seen with a link is in use: without one it is a fault. One that never had a link may be meant so, and is
  //   one only where it alone of four or more of its kind has none, and looks for a partner (Polling).
  // - Likewise one that ran faster before, or alone of four or more of its kind runs slower than the others. A storage network
  //   is often slower than the one for computing, with cards of one kind.
  // - Ports that lost their link equally often within the window are one finding of the node, and none of each port: a switch
  //   that restarted is one fault.
  // - What was told as a fault is one until it is over, whatever others do meanwhile.
  // - A port that was in use is missed where its card left the bus, or where nobody knows why. A card that is there with
  //   another driver, or may be in another network namespace, was given away.
  // - What could not be read is not known: nothing begins, nothing ends.
  std::vector<Finding> evaluate(const store::Snapshot& snapshot);

 private:
  struct Step {
    MonotonicTime at;
    fabric::Counted counted;
  };
  using Steps = std::map<std::string, std::deque<Step>>;  // of one port, by counter
  struct Memory {
    Hold hold;
    Truth truth = Truth::unknown;  // at the last look
    Finding seen;                  // when it was last so
  };
  using Key = std::pair<std::string, Entity>;  // rule, port

  void take(std::shared_ptr<const RdmaPorts> now);
  void note(const RdmaPort& port, const RdmaPorts* before);
  void add_step(std::deque<Step>& steps, const fabric::Counted& counted) const;
  void judge_states();
  void judge_missing();
  void judge_counts();
  void judge_counts_within(Nanoseconds window);
  [[nodiscard]] Severity severity_of(const Finding& finding, const RdmaPort& port) const;
  void see(Finding finding);
  // What came on the port within the window, by counter.
  [[nodiscard]] std::vector<fabric::PortCount> within(const Entity& port, Nanoseconds window) const;
  [[nodiscard]] bool is_told(const Check& check, const Entity& entity) const;
  [[nodiscard]] const Check* check_of(const std::string& rule) const;

  std::vector<Check> checks_;
  std::shared_ptr<const RdmaPorts> last_;
  std::string node_;
  std::map<Entity, MonotonicTime> watched_since_;
  std::map<Entity, Steps> steps_;
  std::set<Entity> used_;
  std::map<Entity, double> fastest_;  // Gb/s, since it is watched
  std::set<Key> told_;                // what others decide, and was a fault
  std::map<Key, Memory> memory_;      // of what holds, or held lately
};

}  // namespace stoker::health
