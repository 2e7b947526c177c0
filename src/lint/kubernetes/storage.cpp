#include "lint/kubernetes/storage.h"

#include <algorithm>
#include <array>

namespace stoker::lint::kubernetes {
namespace {

// Kinds of volume (https://kubernetes.io/docs/concepts/storage/volumes/) that end with the pod or can't be written to.
constexpr std::array<std::string_view, 7> ending_volumes = {
    "emptyDir", "ephemeral", "configMap", "secret", "downwardAPI", "projected", "image"};

// Folders of the node that are devices and drivers rather than places for data.
bool is_machinery(std::string_view path) {
  constexpr std::array<std::string_view, 9> fronts = {"/dev", "/sys",           "/proc",
                                                      "/run", "/var/run",       "/usr",
                                                      "/lib", "/etc/localtime", "/etc/timezone"};
  return std::ranges::any_of(fronts, [&](std::string_view front) {
    return path == front || (path.starts_with(front) && path[front.size()] == '/');
  });
}

}  // namespace

Lasting lasting_of(const Mount& mount) {
  if (!mount.volume.exists()) return Lasting::everywhere;
  if (const auto host = mount.volume.find("hostPath"); host.exists()) {
    // A file, socket or device is no place to keep anything.
    const auto type = host.find("type").text();
    const bool folder = type.empty() || type.starts_with("Directory");
    return !folder || is_machinery(host.find("path").text()) ? Lasting::no : Lasting::on_the_node;
  }
  for (const auto kind : ending_volumes) {
    if (mount.volume.find(kind).exists()) return Lasting::no;
  }
  return Lasting::everywhere;
}

bool has_lasting_mount(const Pod& pod, const Container& container) {
  return std::ranges::any_of(mounts_of(pod, container), [](const Mount& mount) {
    return !mount.path.starts_with("/dev/shm") && lasting_of(mount) != Lasting::no;
  });
}

Mount mount_above(const Pod& pod, const Container& container, std::string_view path) {
  Mount best;
  for (const Mount& mount : mounts_of(pod, container)) {
    const bool above =
        path == mount.path || (path.starts_with(mount.path) && !mount.path.empty() &&
                               (mount.path.back() == '/' || path[mount.path.size()] == '/'));
    if (above && mount.path.size() >= best.path.size()) best = mount;
  }
  return best;
}

}  // namespace stoker::lint::kubernetes
