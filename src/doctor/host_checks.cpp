// Analyzer stage: the machine around the cards: its buses, its memory, its limits.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/driver.h"
#include "doctor/memory.h"
#include "doctor/pci_config.h"
#include "doctor/runtimes.h"

namespace stoker::doctor {
namespace {

// How many NUMA nodes: /sys/devices/system/node has a folder nodeN for each.
std::size_t numa_nodes(Exam& exam) {
  const auto names = exam.list("/sys/devices/system/node");
  return static_cast<std::size_t>(std::ranges::count_if(names, [](const std::string& name) {
    constexpr std::string_view start = "node";
    return name.starts_with(start) &&
           whole_number<int>(std::string_view(name).substr(start.size())).has_value();
  }));
}

}  // namespace

void check_pci_link(Exam& exam) {
  const auto gpus = nvidia_gpus(exam);
  if (gpus.empty()) {
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
    return;
  }
  std::string seen;
  for (const auto& gpu : gpus) {
    const auto now = exam.word(gpu.folder + "/current_link_width");
    const auto most = exam.word(gpu.folder + "/max_link_width");
    const int width = whole_number<int>(now.value_or("")).value_or(0);
    const int full = whole_number<int>(most.value_or("")).value_or(0);
    // Virtual machines may tell 0, and 63 or 255 for "unknown".
    constexpr int widest = 32;
    if (width <= 0 || full <= 0 || width > widest || full > widest) {
      exam.not_looked(fmt::format("{}: the width of its link is not told (now '{}', at most '{}')",
                                  gpu.folder, now.value_or(""), most.value_or("")));
    } else if (width < full) {
      exam.found(fmt::format("GPU {} runs at x{} of x{}", gpu.address, width, full),
                 {fmt::format("{}/current_link_width: {}", gpu.folder, width)});
    }
    seen += fmt::format(" {} x{}", gpu.address, width);
  }
  exam.fine("width:" + seen + "; the speed is not judged: an idle card lowers it");
}

void check_numa(Exam& exam) {
  const auto gpus = nvidia_gpus(exam);
  const std::size_t nodes = numa_nodes(exam);
  if (gpus.empty()) {
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
    return;
  }
  if (nodes == 0) exam.not_looked("/sys/devices/system/node: no NUMA node is listed");
  if (nodes == 1) {
    exam.not_here("the machine has one NUMA node");
    return;
  }
  std::string seen;
  for (const auto& gpu : gpus) {
    const auto node = exam.word(gpu.folder + "/numa_node");
    if (!node) exam.not_looked(gpu.folder + "/numa_node: missing");
    if (node && node->starts_with('-')) {
      exam.found(fmt::format("the kernel does not know to which of {} NUMA nodes GPU {} belongs",
                             nodes, gpu.address),
                 {fmt::format("{}/numa_node: {}", gpu.folder, *node)});
    }
    seen += fmt::format(" {} on {}", gpu.address, node.value_or("?"));
  }
  exam.fine(fmt::format("{} nodes:{}", nodes, seen));
}

void check_acs(Exam& exam) {
  const auto gpus = nvidia_gpus(exam);
  if (gpus.empty()) {
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
    return;
  }
  if (!exam.exists("/proc/cpuinfo"))
    exam.not_looked("/proc/cpuinfo: missing, so whether this is a virtual machine is unknown");
  if (is_virtual_machine(exam)) {
    exam.not_here("a virtual machine: its host needs ACS to hand a card to it, and decides");
    return;
  }
  std::size_t bridges = 0;
  constexpr std::size_t config_bytes = 4096;
  for (const auto& gpu : gpus) {
    const auto above = bridges_above(exam, gpu.folder);
    if (above.empty())
      exam.not_looked(gpu.folder + ": is no link, so the bridges above it are unknown");
    for (const auto& bridge : above) {
      const std::string file = "/sys/bus/pci/devices/" + bridge + "/config";
      const auto config = exam.read(file, config_bytes);
      ++bridges;
      if (!config || config->size() <= 256) {
        exam.not_looked(
            file + (config ? ": only its first bytes may be read; it takes root" : ": missing"));
        continue;
      }
      const unsigned control = acs_control(*config).value_or(0);
      if ((control & acs_redirects) == 0) continue;
      exam.found(
          fmt::format(
              "bridge {} above GPU {} sends transfers between cards by way of the processor",
              bridge, gpu.address),
          {fmt::format("{}: ACS control {:#06x} (request redirect {}, completion redirect {})",
                       file, control, (control & 0x4U) != 0 ? "on" : "off",
                       (control & 0x8U) != 0 ? "on" : "off")});
    }
  }
  exam.fine(fmt::format("no redirect on {} bridges above the GPUs", bridges));
}

void check_iommu(Exam& exam) {
  const auto gpus = nvidia_gpus(exam);
  if (gpus.empty()) {
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
    return;
  }
  if (exam.list("/sys/class/iommu").empty()) {
    exam.fine("no IOMMU is on");
    return;
  }
  std::string seen;
  for (const auto& gpu : gpus) {
    // Documentation/ABI/testing/sysfs-kernel-iommu_groups: DMA and DMA-FQ translate, identity does not.
    const auto type = exam.word(gpu.folder + "/iommu_group/type");
    if (!type) {
      exam.not_looked(gpu.folder + "/iommu_group/type: missing");
    } else if (type->starts_with("DMA")) {
      exam.found(fmt::format("the IOMMU translates what GPU {} reads and writes", gpu.address),
                 {fmt::format("{}/iommu_group/type: {}", gpu.folder, *type)});
    }
    seen += " " + type.value_or("?");
  }
  exam.fine("IOMMU on, type of the GPUs' groups:" + seen);
}

void check_kubelet_topology(Exam& exam) {
  const auto kubelet = read_kubelet(exam);
  const std::size_t nodes = numa_nodes(exam);
  if (!kubelet || nodes < 2) {
    exam.not_here(kubelet ? "the machine has one NUMA node"
                          : "no kubelet is set up by a file here");
    return;
  }
  if (kubelet->topology_manager == "none" || kubelet->cpu_manager != "static") {
    exam.found_at(
        {kubelet->file, 0, 0},
        fmt::format(
            "with {} NUMA nodes, pods get GPUs and processors without regard to one another",
            nodes),
        {"topologyManagerPolicy: " + kubelet->topology_manager,
         "cpuManagerPolicy: " + kubelet->cpu_manager});
  }
  exam.fine(fmt::format("topologyManagerPolicy {}, cpuManagerPolicy {}", kubelet->topology_manager,
                        kubelet->cpu_manager));
}

void check_hugepages(Exam& exam) {
  const auto info = read_meminfo(exam);
  if (!info) {
    exam.not_looked("/proc/meminfo: missing or without MemTotal");
    return;
  }
  const auto reserved = info->huge_pages * info->huge_page_bytes;
  constexpr double gib = 1 << 30;
  if (reserved > 0 && info->huge_pages_free == info->huge_pages) {
    exam.found(fmt::format("{:.1f} GiB are set aside as huge pages, and nobody uses one",
                           static_cast<double>(reserved) / gib),
               {fmt::format("/proc/meminfo: HugePages_Total {}, HugePages_Free {}",
                            info->huge_pages, info->huge_pages_free)});
  }
  exam.fine(fmt::format("{} huge pages, {} free", info->huge_pages, info->huge_pages_free));
}

}  // namespace stoker::doctor
