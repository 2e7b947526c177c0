// Test support: what a scenario expects beside what there is.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "incident/node_run.h"
#include "model/entity.h"
#include "scenario.h"

namespace stoker::scenario {

// What came in the course of a scenario, and which of it a line expected.
class Seen {
 public:
  // After each look.
  void add(const incident::NodeRun& run);
  // What is not as the expectation `act` says; empty: all is, or it is none.
  std::string compare(const Act& act, const incident::NodeRun& run,
                      const std::vector<device::GpuInfo>& cards);
  // What came and neither a line expected nor stands in `also`.
  [[nodiscard]] std::vector<std::string> unexpected(const std::set<std::string>& also) const;

 private:
  std::string finding(const ExpectFinding& expected, const incident::NodeRun& run,
                      const std::vector<device::GpuInfo>& cards);
  std::string incident(const ExpectIncident& expected, const incident::NodeRun& run,
                       const std::vector<device::GpuInfo>& cards);

  using Key = std::pair<std::string, Entity>;
  std::set<Key> findings_, expected_findings_;
  std::set<std::uint64_t> incidents_, expected_incidents_;
  std::set<std::pair<std::uint64_t, std::string>> causes_;  // of the incidents, with what they were
};

}  // namespace stoker::scenario
