// Analyzer stage: what a GPU container has of its node besides GPUs.
#include <algorithm>
#include <array>

#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

// Folders of the node that GPU work mounts with reason: shared memory, devices, RDMA, what the provider's driver and
// network plugins put there (GKE: https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx).
bool is_usual(std::string_view path) {
  constexpr std::array<std::string_view, 10> fronts = {"/dev",
                                                       "/sys",
                                                       "/proc",
                                                       "/run",
                                                       "/var/run/nvidia",
                                                       "/usr/local/nvidia",
                                                       "/home/kubernetes/bin",
                                                       "/var/lib/tcp",
                                                       "/lib/modules",
                                                       "/etc/localtime"};
  return std::ranges::any_of(fronts, [&](std::string_view front) {
    return path.starts_with(front) &&
           (path.size() == front.size() || path[front.size()] == '/' || front.ends_with("tcp"));
  });
}

void check_mounts(const Subject& subject, const Pod& pod, const Container& container,
                  std::vector<std::string_view>& told) {
  for (const Mount& mount : mounts_of(pod, container)) {
    const yaml::View path = mount.volume.at("hostPath.path");
    const auto name = mount.view.find("name").text();
    if (!path.exists() || is_usual(path.text()) || std::ranges::find(told, name) != told.end())
      continue;
    told.push_back(name);
    subject.add(
        RuleId::host_path, path.place(),
        fmt::format("{} mounts {} of the node at {}", subject.name_of(container),
                    is_filled_in_later(path.text()) ? "a folder" : path.text(), mount.path));
  }
}

}  // namespace

void check_node_access(const Subject& subject) {
  if (!is_work(subject.evidence)) return;
  for (const Pod& pod : subject.workload.pods) {
    std::vector<std::string_view> told;
    for (const Container& container : pod.containers) {
      if (!container.gpus.any) continue;
      check_mounts(subject, pod, container, told);
      const yaml::View privileged = container.view.at("securityContext.privileged");
      if (privileged.text() != "true") continue;
      subject.add(RuleId::privileged, privileged.place(),
                  fmt::format("{} is privileged", subject.name_of(container)));
    }
  }
}

}  // namespace stoker::lint::kubernetes
