// Analyzer stage: the CUDA of an image against the driver of the node that runs it. Only what the image's name says is
// known, so only what is certain by major versions is told.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.h"
#include "lint/cluster/image_cuda.h"
#include "lint/cluster/report.h"

namespace stoker::lint {
namespace {

// The least driver that runs a CUDA of this major version without forward compatibility
// (https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html, table 1).
struct LeastDriver {
  int cuda;
  int driver;
};
constexpr std::array<LeastDriver, 3> least_drivers = {{{11, 450}, {12, 525}, {13, 580}}};

// GPU feature discovery's label, and its older name.
std::optional<int> driver_of(const NodeFacts& node) {
  const auto major = whole_number<int>(node.label("nvidia.com/cuda.driver-version.major"));
  return major ? major : whole_number<int>(node.label("nvidia.com/cuda.driver.major"));
}

void check_pod(const ClusterReport& report, const PodFacts& pod, const NodeFacts& node, int driver,
               std::set<std::string>& told) {
  for (const auto& image : pod.images) {
    const auto cuda = cuda_major_of_image(image);
    const auto* least =
        cuda ? std::ranges::find(least_drivers, *cuda, &LeastDriver::cuda) : least_drivers.end();
    if (least == least_drivers.end() || driver >= least->driver) continue;
    if (!told.insert(fmt::format("{} {} {}", pod.owner_id(), image, driver)).second) continue;
    // Forward compatibility is for cards of data centres and some RTX boards of servers.
    const auto product = node.label("nvidia.com/gpu.product");
    const bool certain = product.find("GeForce") != std::string_view::npos;
    report.add(certain ? "cuda-above-driver" : "cuda-needs-compat", owner_entity(pod),
               fmt::format("image {} has CUDA {}, which needs driver {} or later; node {} has {}",
                           image, *cuda, least->driver, node.name, driver),
               product.empty()
                   ? std::vector<std::string>{}
                   : std::vector<std::string>{fmt::format("GPU of the node: {}", product)});
  }
}

}  // namespace

void check_cuda(const ClusterReport& report) {
  std::set<std::string> told;
  for (const auto& node : report.facts.nodes()) {
    const auto driver = driver_of(node);
    if (!driver) continue;
    for (const auto* pod : report.facts.pods_on(node.name))
      check_pod(report, *pod, node, *driver, told);
  }
}

}  // namespace stoker::lint
