#include "topology/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace stoker::topology {
namespace {

std::string gpu_name(const GpuNode& gpu) { return fmt::format("GPU{}", gpu.index); }

// The value that most have; the greater one where two are as frequent. Empty: no value at all.
template <typename T>
std::optional<T> most_common(const std::vector<T>& values) {
  std::map<T, std::size_t> counts;
  for (const T& value : values) ++counts[value];
  const auto best = std::ranges::max_element(
      counts, {}, [](const auto& entry) { return std::pair(entry.second, entry.first); });
  return best == counts.end() ? std::nullopt : std::optional(best->first);
}

class Reviewer {
 public:
  explicit Reviewer(const Topology& topology) : topology_(topology) {}

  std::vector<Remark> review() {
    check_known();
    check_nic_distances();
    check_nvlinks();
    check_widths();
    check_nics();
    return std::move(remarks_);
  }

 private:
  void say(std::string about, std::string message) {
    remarks_.push_back({std::move(about), std::move(message)});
  }

  void check_known() {
    if (!topology_.devices_read) say(topology_.hostname, "where its devices hang is not read yet");
    if (!topology_.problem.empty())
      say(topology_.hostname, "not all is known: " + topology_.problem);
    for (const GpuNode& gpu : topology_.gpus) {
      if (gpu.state != "present")
        say(gpu_name(gpu), "is " + gpu.state + ": its NVLinks are not known");
      if (topology_.devices_read && !gpu.path) {
        say(gpu_name(gpu), "is not in sysfs, so its distance to others is not known");
      }
    }
  }

  void check_nic_distances() {
    if (topology_.nics.empty()) return;
    std::vector<PcieDistance> all;
    for (std::size_t gpu = 0; gpu < topology_.gpus.size(); ++gpu) {
      if (const auto choice = nearest_nics(topology_, gpu); !choice.nics.empty()) {
        all.push_back(choice.distance);
      }
    }
    const auto usual = most_common(all);
    for (std::size_t gpu = 0; gpu < topology_.gpus.size(); ++gpu) check_nic_of(gpu, usual);
  }

  void check_nic_of(std::size_t gpu, std::optional<PcieDistance> usual) {
    const auto choice = nearest_nics(topology_, gpu);
    const std::string name = gpu_name(topology_.gpus[gpu]);
    if (choice.nics.empty()) {
      if (topology_.gpus[gpu].path) say(name, "reaches no NIC with an active port");
    } else if (usual && choice.distance > *usual) {
      say(name, fmt::format("its nearest NIC is {} over {}; other GPUs have one at {}",
                            topology_.nics[choice.nics.front()].name, to_string(choice.distance),
                            to_string(*usual)));
    }
  }

  void check_nvlinks() {
    std::vector<unsigned> counts;
    counts.reserve(topology_.gpus.size());
    for (const GpuNode& gpu : topology_.gpus) counts.push_back(gpu.links);
    const unsigned usual = most_common(counts).value_or(0);
    for (const GpuNode& gpu : topology_.gpus) {
      if (gpu.state != "present") continue;
      if (gpu.links_up && *gpu.links_up < gpu.links) {
        say(gpu_name(gpu), fmt::format("{} of its {} NVLinks are up", *gpu.links_up, gpu.links));
      } else if (gpu.links < usual) {
        say(gpu_name(gpu), fmt::format("has {} NVLinks, its peers {}", gpu.links, usual));
      }
    }
  }

  // Generations fall while a card idles and say nothing; the number of lanes stays.
  void check_widths() {
    for (const GpuNode& gpu : topology_.gpus) {
      if (!gpu.pcie_width || *gpu.pcie_width >= gpu.max_pcie_width) continue;
      say(gpu_name(gpu),
          fmt::format("its PCIe link has {} of {} lanes", *gpu.pcie_width, gpu.max_pcie_width));
    }
  }

  void check_nics() {
    std::map<std::string, std::vector<double>> rates;
    for (const NicNode& nic : topology_.nics) {
      if (nic.active() && nic.rate_gbps) rates[nic.link_layer].push_back(*nic.rate_gbps);
    }
    for (const NicNode& nic : topology_.nics) {
      if (nic.port_state.empty()) {
        say(nic.name, "the state of its port is not known");
      } else if (!nic.active()) {
        say(nic.name, fmt::format("its port is {}: not counted as anybody's NIC", nic.port_state));
      } else if (const auto usual = most_common(rates[nic.link_layer]);
                 usual && nic.rate_gbps.value_or(*usual) < *usual) {
        say(nic.name, fmt::format("runs at {} Gb/s, other {} ports at {}", *nic.rate_gbps,
                                  nic.link_layer, *usual));
      }
    }
  }

  const Topology& topology_;
  std::vector<Remark> remarks_;
};

}  // namespace

NicChoice nearest_nics(const Topology& topology, std::size_t gpu) {
  NicChoice choice;
  double fastest = 0;
  for (std::size_t place = 0; place < topology.nics.size(); ++place) {
    const NicNode& nic = topology.nics[place];
    const Connection& way = topology.to_nic(gpu, place);
    if (!nic.active() || way.kind != Connection::Kind::pcie) continue;
    const double rate = nic.rate_gbps.value_or(0);
    const auto rank = std::pair(way.pcie, -rate);
    const auto best = std::pair(choice.distance, -fastest);
    if (!choice.nics.empty() && rank > best) continue;
    if (choice.nics.empty() || rank < best) choice = {.nics = {}, .distance = way.pcie};
    choice.nics.push_back(place);
    fastest = rate;
  }
  return choice;
}

std::string nccl_ib_hca(const Topology& topology) {
  std::set<std::size_t> chosen;
  for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    const auto choice = nearest_nics(topology, gpu);
    chosen.insert(choice.nics.begin(), choice.nics.end());
  }
  if (chosen.empty()) return "";
  std::vector<std::string> names;
  names.reserve(chosen.size());
  for (const std::size_t nic : chosen) names.push_back(topology.nics[nic].name);
  return fmt::format("={}", fmt::join(names, ","));
}

std::vector<Remark> remarks(const Topology& topology) { return Reviewer(topology).review(); }

}  // namespace stoker::topology
