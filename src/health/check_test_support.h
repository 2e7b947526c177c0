// Test support: nodes to evaluate checks on, a second at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "health/check_engine.h"
#include "health/check_reader.h"
#include "store/store_test_support.h"

namespace stoker::health {

// What a field is to read from now on; a name of the field table.
using Told = std::map<std::string, double>;

// GPUs of one kind whose readings are fresh in every snapshot.
class TestNode {
 public:
  explicit TestNode(unsigned gpus = 1, unsigned links = 0) {
    snapshot.hostname = "node1";
    snapshot.source.state = device::SourceState::running;
    snapshot.taken_at = {Seconds(100'000)};
    snapshot.wall = {Seconds(1'700'000'000)};
    for (unsigned n = 0; n < gpus; ++n) {
      store::GpuSnapshot gpu;
      gpu.info = store::gpu_info(n);
      gpu.state_since = snapshot.taken_at;
      for (unsigned link = 0; link < links; ++link) gpu.nvlinks[link] = {};
      snapshot.gpus.push_back(gpu);
    }
  }

  // For one GPU (with the field of a link: for all its links), or the node.
  void tell(const Told& told, std::size_t gpu = 0) {
    for (const auto& [name, value] : told) {
      const bool of_node = find_operand(name)->entity == EntityKind::node;
      readings_[{of_node ? 0 : gpu, name}] = Reading::of(value, {});
    }
  }
  void tell_all(const Told& told) {
    for (std::size_t gpu = 0; gpu < snapshot.gpus.size(); ++gpu) tell(told, gpu);
  }
  void tell_link(std::string_view field, std::uint32_t link, double value, std::size_t gpu = 0) {
    links_[{gpu, link, std::string(field)}] = value;
  }
  void untell(const std::string& name, Reason reason, std::size_t gpu = 0) {
    readings_[{gpu, name}] = Reading::none(reason, {});
  }

  // Goes on by `by` and reads everything anew.
  const store::Snapshot& pass(Nanoseconds by) {
    snapshot.taken_at = snapshot.taken_at + by;
    snapshot.wall = {snapshot.wall.since_epoch + by};
    for (auto [place, reading] : readings_) {
      reading.taken_at = snapshot.taken_at;
      put(place.first, *find_operand(place.second), reading);
    }
    for (const auto& [place, value] : links_) {
      const auto& [gpu, link, field] = place;
      snapshot.gpus.at(gpu).nvlinks[link].set(*find_operand(field)->field,
                                              Reading::of(value, snapshot.taken_at));
    }
    return snapshot;
  }

  store::Snapshot snapshot;

 private:
  void put(std::size_t gpu, const Operand& operand, const Reading& reading) {
    if (operand.entity == EntityKind::node) return snapshot.node.set(*operand.field, reading);
    auto& one = snapshot.gpus.at(gpu);
    if (operand.entity == EntityKind::nvlink) {
      for (auto& [link, readings] : one.nvlinks) readings.set(*operand.field, reading);
      return;
    }
    one.readings.set(*operand.field, reading);
  }

  std::map<std::pair<std::size_t, std::string>, Reading> readings_;
  std::map<std::tuple<std::size_t, std::uint32_t, std::string>, double> links_;
};

// The checks of a text; a mistake in it is the test's own and said.
inline std::vector<Check> checks_of(const std::string& text) {
  auto checks = read_checks(text, "test.yaml");
  if (!checks) throw std::runtime_error(checks.error().message());
  return *std::move(checks);
}

// "hot 91" for the findings that fire: their ids and messages.
inline std::vector<std::string> firing(const std::vector<Finding>& findings) {
  std::vector<std::string> all;
  for (const Finding& finding : findings) {
    if (finding.state == FindingState::firing) all.push_back(finding.rule + ": " + finding.message);
  }
  return all;
}

}  // namespace stoker::health
