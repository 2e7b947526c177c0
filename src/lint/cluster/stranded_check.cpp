// Analyzer stage: free GPUs that nobody can use, since the CPU or memory beside them is taken.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "lint/cluster/report.h"

namespace stoker::lint {
namespace {

constexpr std::string_view gpu = "nvidia.com/gpu";

// What a node has left, as the scheduler counts it.
struct Room {
  double gpus = 0;
  double cpu = 0;
  double memory = 0;
};

Room room_of(const NodeFacts& node, const Amounts& used) {
  return {amount_of(node.allocatable, gpu) - amount_of(used, gpu),
          amount_of(node.allocatable, "cpu") - amount_of(used, "cpu"),
          amount_of(node.allocatable, "memory") - amount_of(used, "memory")};
}

// Are the node's GPUs shares of cards?
bool is_shared(const NodeFacts& node) {
  return whole_number<int>(node.label("nvidia.com/gpu.replicas")).value_or(1) > 1;
}

// What a pod asks for, once for all pods of the same shape.
struct Shape {
  double gpus = 0;
  double cpu = 0;
  double memory = 0;
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

Shape shape_of_pod(const PodFacts& pod) {
  return {amount_of(pod.requests, gpu), amount_of(pod.requests, "cpu"),
          amount_of(pod.requests, "memory")};
}

bool may_go_there(const PodFacts& pod, const NodeFacts& node) {
  if (pod.affinity || node.keeps_away(pod.tolerations)) return false;
  return std::ranges::all_of(pod.selector, [&](const auto& each) {
    const auto found = node.labels.find(each.first);
    return found != node.labels.end() && found->second == each.second;
  });
}

bool fits(const Shape& shape, const Room& room) {
  return shape.cpu <= room.cpu && shape.memory <= room.memory;
}

std::string asked(const Shape& shape) {
  return fmt::format("{}, {} and {}", counted(shape.gpus, "GPU"), counted(shape.cpu, "CPU"),
                     gibibytes(shape.memory));
}

class StrandedCheck {
 public:
  explicit StrandedCheck(const ClusterReport& report) : report_(report) {
    for (const auto& pod : report.facts.pods()) {
      for (const auto& [resource, amount] : pod.requests) used_[pod.node][resource] += amount;
      if (amount_of(pod.requests, gpu) < 1) continue;
      const bool waits = pod.node.empty() && report.is_long_ago(pod.unschedulable_since);
      const auto kind = std::tuple(pod.owner_id(), shape_of_pod(pod), waits);
      if (seen_.insert(kind).second) candidates_.push_back({&pod, shape_of_pod(pod), waits});
    }
  }

  void look_at(const NodeFacts& node) {
    const Room room = room_of(node, used_[node.name]);
    if (room.gpus < 1 || !node.ready || node.cordoned || is_shared(node)) return;
    std::set<Shape> shapes;  // that may go there, and for whose GPUs there is room
    const PodFacts* waiting = nullptr;
    for (const Candidate& each : candidates_) {
      if (each.shape.gpus > room.gpus || !may_go_there(*each.pod, node)) continue;
      shapes.insert(each.shape);
      if (each.waits && !fits(each.shape, room) && waiting == nullptr) waiting = each.pod;
    }
    const bool none_fits = !shapes.empty() && std::ranges::none_of(shapes, [&](const Shape& shape) {
      return fits(shape, room);
    });
    if (waiting == nullptr && !none_fits) return;
    tell(node, room, waiting, *shapes.begin());
  }

 private:
  void tell(const NodeFacts& node, const Room& room, const PodFacts* waiting,
            const Shape& smallest) {
    const auto free =
        fmt::format("{:g} of {:g} GPUs of node {} are free, beside {} and {}", room.gpus,
                    amount_of(node.allocatable, gpu), node.name,
                    counted(std::max(room.cpu, 0.0), "CPU"), gibibytes(std::max(room.memory, 0.0)));
    const auto who = waiting != nullptr ? fmt::format("pod {}/{} waits for {}", waiting->name_space,
                                                      waiting->name, asked(shape_of_pod(*waiting)))
                                        : fmt::format("the smallest pod with GPUs here asks for {}",
                                                      asked(smallest));
    report_.add("gpus-stranded", node_entity(node), free + "; " + who);
  }

  // A pod with GPUs, for all of the same owner and shape.
  struct Candidate {
    const PodFacts* pod;
    Shape shape;
    bool waits;
  };

  const ClusterReport& report_;
  std::set<std::tuple<std::string, Shape, bool>> seen_;
  std::vector<Candidate> candidates_;
  std::map<std::string, Amounts, std::less<>> used_;  // by node
};

}  // namespace

void check_stranded(const ClusterReport& report) {
  StrandedCheck check(report);
  for (const auto& node : report.facts.nodes()) check.look_at(node);
}

}  // namespace stoker::lint
