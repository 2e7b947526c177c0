#include "doctor/container.h"

#include <array>

namespace stoker::doctor {

std::string sign_of_container(const Node& node) {
  // Docker, podman, and systemd's interface for containers (systemd.io/CONTAINER_INTERFACE).
  for (const auto* path : {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"}) {
    if (node.facts(path)) return path;
  }
  if (node.facts("/var/run/secrets/kubernetes.io/serviceaccount")) {
    return "/var/run/secrets/kubernetes.io/serviceaccount";
  }
  constexpr std::size_t largest = 1 << 16;
  const auto cgroup = node.text("/proc/1/cgroup", largest);
  constexpr auto words =
      std::to_array<std::string_view>({"kubepods", "docker", "containerd", "libpod", "crio"});
  for (const auto word : words) {
    if (cgroup && cgroup->find(word) != std::string::npos)
      return "/proc/1/cgroup: " + std::string(word);
  }
  return "";
}

}  // namespace stoker::doctor
