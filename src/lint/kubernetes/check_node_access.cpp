// Analyzer stage: what a GPU container has of its node besides GPUs.
#include <algorithm>
#include <array>

#include "lint/kubernetes/subject.h"

namespace stoker::lint::kubernetes {
namespace {

using yaml::View;

// Folders of the node that GPU work mounts with reason: shared memory, devices, RDMA, what the provider's driver and
// network plugins put there (GKE: https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx).
bool is_usual(std::string_view path) {
  // Who may speak to the container runtime may start anything on the node.
  if (path.ends_with("containerd.sock") || path.ends_with("docker.sock") ||
      path.ends_with("crio.sock"))
    return false;
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
    const View path = mount.volume.at("hostPath.path");
    const auto name = mount.view.find("name").text();
    if (!path.exists() || is_usual(path.text()) || std::ranges::find(told, name) != told.end())
      continue;
    // A chart that mounts it only where somebody asks for it. The first line of the spec may be under a condition too.
    const int around = std::min(subject.source.depth_at(container.place().line),
                                subject.source.depth_at(pod.spec.place().line));
    if (subject.source.depth_at(path.place().line) > around) continue;
    // A test may look at folders of the node, not at all of it.
    if (!is_work(subject.evidence) && path.text() != "/") continue;
    told.push_back(name);
    subject.add(
        RuleId::host_path, key_place(mount.volume, "hostPath"),
        fmt::format("{} mounts {} of the node at {}", subject.name_of(container),
                    is_filled_in_later(path.text()) ? "a folder" : path.text(), mount.path));
  }
}

// A monitor sees every GPU of its node without asking for one, by the container runtime
// (https://github.com/NVIDIA/dcgm-exporter etc/, dcgm-exporter.yaml asks for none).
void check_monitor(const Subject& subject) {
  if (subject.workload.kind != "DaemonSet") return;
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      if (container.image.text().find("dcgm-exporter") == std::string_view::npos) continue;
      if (!container.gpus.any) continue;
      subject.add(
          RuleId::gpu_held_by_monitor, container.place(),
          fmt::format("{} takes a GPU of every node from the work", subject.name_of(container)));
    }
  }
}

}  // namespace

void check_node_access(const Subject& subject) {
  if (subject.evidence.purpose == Purpose::system) return check_monitor(subject);
  for (const Pod& pod : subject.workload.pods) {
    std::vector<std::string_view> told;
    for (const Container& container : pod.containers) {
      // The head of a cluster without GPUs writes to the node as its workers do.
      check_mounts(subject, pod, container, told);
      const View security = container.view.find("securityContext");
      if (!container.gpus.any || security.find("privileged").text() != "true") continue;
      subject.add(RuleId::privileged, key_place(security, "privileged"),
                  fmt::format("{} is privileged", subject.name_of(container)));
    }
  }
}

}  // namespace stoker::lint::kubernetes
