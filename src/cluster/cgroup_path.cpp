#include "cluster/cgroup_path.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace stoker::cluster {
namespace {

bool is_lower_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view without_suffix(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text;
}

// systemd's unit types that hold processes: systemd.scope(5), systemd.slice(5).
std::string_view without_unit_type(std::string_view name) {
  return without_suffix(without_suffix(name, ".scope"), ".slice");
}

// What each runtime puts before its container's id in the name of its scope. "crio-conmon-" and
// "libpod-conmon-" are the monitors beside a container, not in it, and stand in no row.
constexpr auto runtime_prefixes = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"cri-containerd-", "containerd"},
    {"nerdctl-", "containerd"},
    {"crio-", "cri-o"},
    {"docker-", "docker"},
    {"libpod-", "podman"},
});

constexpr std::size_t longest_word = 32;       // of what has no length of its own
constexpr std::size_t id_digits = 64;          // of every one of them
constexpr std::size_t uuid_characters = 36;    // RFC 9562: 8-4-4-4-12
constexpr std::size_t static_pod_digits = 32;  // the kubelet makes it by hashing the manifest

// The uid behind "pod"; systemd's names have '_' for its '-', which separates slices there. Empty:
// it is none.
std::string pod_uid_in(std::string_view text) {
  if (text.size() == static_pod_digits && is_lower_hex(text)) return std::string(text);
  if (text.size() != uuid_characters) return {};
  std::string uid(text);
  std::ranges::replace(uid, '_', '-');
  for (std::size_t n = 0; n < uid.size(); ++n) {
    const bool dash = n == 8 || n == 13 || n == 18 || n == 23;
    if (dash ? uid[n] != '-' : !is_lower_hex({&uid[n], 1})) return {};
  }
  return uid;
}

// "pod<uid>" (cgroupfs) or "kubepods-burstable-pod<uid>.slice" (systemd; "kubelet-" before it where
// the kubelet has a cgroup root of its own, as in KinD).
std::string pod_of(std::string_view part) {
  const std::string_view name = without_unit_type(part);
  const auto at = name.rfind("pod");
  if (at == std::string_view::npos || (at > 0 && name[at - 1] != '-')) return {};
  return pod_uid_in(name.substr(at + 3));
}

struct Container {
  std::string_view id;
  std::string_view runtime;
};

// id empty: `part` is no container.
Container container_of(std::string_view part, bool below_docker) {
  std::string_view name = without_unit_type(part);
  if (name.size() == id_digits && is_lower_hex(name)) {
    return {name, below_docker ? "docker" : ""};
  }
  for (const auto& [prefix, runtime] : runtime_prefixes) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name.size() == id_digits && is_lower_hex(name)) return {name, runtime};
    return {};
  }
  return {};
}

// Walks down a path, part by part.
class Walk {
 public:
  explicit Walk(bool cut) : in_slurm_(cut) {}

  void take(std::string_view part) {
    take_container(part);
    take_job(part);
    below_docker_ = part == "docker";
  }

  CgroupOwner result() { return std::move(owner_); }

 private:
  void take_container(std::string_view part) {
    if (owner_.pod_uid.empty()) {
      owner_.pod_uid = pod_of(part);
      if (!owner_.pod_uid.empty()) {
        // What stands above a pod is the machine that the kubelet takes for its own.
        owner_.container_id.clear();
        owner_.runtime.clear();
        return;
      }
    }
    if (!owner_.container_id.empty()) return;
    const Container found = container_of(part, below_docker_);
    owner_.container_id = found.id;
    owner_.runtime = found.runtime;
  }

  // v1: /slurm[_NODE]/uid_U/job_J/step_S; v2: [NODE_]slurmstepd.scope/job_J/step_S
  // (https://slurm.schedmd.com/cgroup_v2.html). From inside a cgroup namespace the upper part is cut.
  void take_job(std::string_view part) {
    if (part == "slurm" || part.starts_with("slurm_") || part.ends_with("slurmstepd.scope")) {
      in_slurm_ = true;
    } else if (in_slurm_ && owner_.slurm_job.empty() && part.starts_with("job_")) {
      if (is_digits(part.substr(4))) owner_.slurm_job = part.substr(4, longest_word);
    } else if (!owner_.slurm_job.empty() && owner_.slurm_step.empty() &&
               part.starts_with("step_")) {
      owner_.slurm_step = part.substr(5, longest_word);
    }
  }

  bool in_slurm_;
  bool below_docker_ = false;
  CgroupOwner owner_;
};

// Calls `take` with what stands between the `separator`s of `text`, nothing left out but the empty.
template <typename Take>
void for_each_part(std::string_view text, char separator, const Take& take) {
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// runc's "slice:prefix:name", which becomes one folder where the runtime was not told that the
// kubelet uses systemd: "kubepods-burstable-pod<uid>.slice:cri-containerd:<id>".
bool take_slice_prefix_name(std::string_view part, Walk& walk) {
  const auto first = part.find(':');
  const auto second = first == std::string_view::npos ? first : part.find(':', first + 1);
  if (second == std::string_view::npos) return false;
  walk.take(part.substr(0, first));
  std::string name(part.substr(first + 1));
  name[second - first - 1] = '-';
  walk.take(name);
  return true;
}

}  // namespace

CgroupOwner parse_cgroup_path(std::string_view path) {
  path = without_suffix(path, " (deleted)");  // cgroups(7): the cgroup is gone, its process is not
  Walk walk(path.starts_with("/.."));
  for_each_part(path, '/', [&](std::string_view part) {
    if (part != ".." && !take_slice_prefix_name(part, walk)) walk.take(part);
  });
  return walk.result();
}

CgroupOwner parse_cgroup_file(std::string_view text) {
  CgroupOwner all;
  for_each_part(text, '\n', [&](std::string_view line) {
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return;
    CgroupOwner one = parse_cgroup_path(line.substr(second + 1));
    if (all.pod_uid.empty() && all.container_id.empty()) {
      all.pod_uid = std::move(one.pod_uid);
      all.container_id = std::move(one.container_id);
      all.runtime = std::move(one.runtime);
    }
    if (all.slurm_job.empty()) {
      all.slurm_job = std::move(one.slurm_job);
      all.slurm_step = std::move(one.slurm_step);
    }
  });
  return all;
}

}  // namespace stoker::cluster
