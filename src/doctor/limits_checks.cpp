// Analyzer stage: limits that a GPU job meets, clocks that have to agree, disks that fill, and what the operator says.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "doctor/checks.h"
#include "doctor/driver.h"
#include "doctor/memory.h"
#include "doctor/runtimes.h"

namespace stoker::doctor {
namespace {

constexpr std::uint64_t one_gib = 1ULL << 30U;

// "Max locked memory         8388608              8388608              bytes": the soft limit, or "unlimited".
std::string limit_in(std::string_view limits, std::string_view name) {
  const auto at = limits.find(name);
  if (at == std::string_view::npos) return "";
  const auto rest = limits.substr(at + name.size());
  const auto first = rest.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(rest.substr(first, rest.find(' ', first) - first));
}

}  // namespace

void check_shared_memory(Exam& exam) {
  const auto shm = read_shared_memory(exam);
  if (!shm) {
    if (!exam.has_unread())
      exam.found("nothing is mounted at /dev/shm", {"/proc/self/mounts: no /dev/shm"});
    return;
  }
  if (shm->bytes < one_gib) {
    const char* fix = exam.context().in_container
                          ? "In the pod: volumes: [{name: shm, emptyDir: {medium: Memory, "
                            "sizeLimit: 8Gi}}] and volumeMounts: "
                            "[{name: shm, mountPath: /dev/shm}]; what is in it counts to the "
                            "container's memory limit. "
                            "With docker or podman: --shm-size=8g"
                          : "Remove the option size= of /dev/shm from /etc/fstab: half of the "
                            "memory is the default";
    exam.found(fmt::format("/dev/shm holds {}", size_text(shm->bytes)), {shm->mount}).fix = fix;
  }
  exam.fine("/dev/shm holds " + size_text(shm->bytes));
}

void check_memlock(Exam& exam) {
  if (exam.list("/sys/class/infiniband").empty()) {
    exam.not_here("there is no RDMA device");
    return;
  }
  // Who starts jobs; a job inherits what they have. The kubelet starts none: it asks an engine to.
  constexpr auto starters =
      std::to_array<std::string_view>({"containerd", "dockerd", "crio", "slurmd"});
  std::string seen;
  for (const auto& pid : exam.list("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(pid.front())) == 0) continue;
    const std::string name = exam.word("/proc/" + pid + "/comm").value_or("");
    const bool is_self = exam.context().in_container && pid == "1";
    if (!is_self && std::ranges::find(starters, name) == starters.end()) continue;
    const auto limits = exam.read("/proc/" + pid + "/limits");
    if (!limits) {
      exam.not_looked("/proc/" + pid + "/limits: missing");
      continue;
    }
    const std::string limit = limit_in(*limits, "Max locked memory");
    if (limit != "unlimited") {
      exam.found(fmt::format("what {} starts may lock {} bytes of memory", name, limit),
                 {fmt::format("/proc/{}/limits: Max locked memory {}", pid, limit)});
    }
    seen += fmt::format("{}{} {}", seen.empty() ? "" : ", ", name, limit);
  }
  if (seen.empty())
    exam.not_looked(
        "/proc: none of containerd, dockerd, crio and slurmd runs, so whose limit a job "
        "gets is unknown");
  exam.fine("locked memory: " + seen);
}

void check_time_sync(Exam& exam) {
  // The last is what systemd-timesyncd is cut to.
  constexpr auto daemons =
      std::to_array<std::string_view>({"chronyd", "ntpd", "ptp4l", "ntpd-rs", "systemd-timesyncd"});
  if (exam.list("/proc").empty()) {
    exam.not_looked("/proc: no process is listed");
    return;
  }
  for (const auto daemon : daemons) {
    if (!is_running(exam, daemon)) continue;
    const bool is_timesyncd = daemon == daemons.back();
    if (is_timesyncd && !exam.exists("/run/systemd/timesync/synchronized")) {
      exam.found("systemd-timesyncd runs and has reached no server yet",
                 {"/run/systemd/timesync/synchronized: missing"});
    }
    exam.fine(fmt::format("{} runs", daemon));
    return;
  }
  exam.found("nobody keeps the clock", {"/proc: no chronyd, ntpd, ptp4l or systemd-timesyncd"});
}

void check_disks(Exam& exam) {
  if (!exam.context().is_live) {
    exam.not_looked("a copy of a node's files does not tell how full its disks are");
    return;
  }
  const bool kubelet = read_kubelet(exam).has_value();
  struct Place {
    const char* path;
    double least;  // the kubelet's default thresholds: imagefs.available<15%, nodefs.available<10%
  };
  constexpr double images = 0.15;
  constexpr double node = 0.10;
  std::string seen;
  for (const Place place :
       {Place{"/var/lib/containerd", images}, Place{"/var/lib/containers", images},
        Place{"/var/lib/docker", images}, Place{"/var/lib/kubelet", node}}) {
    const auto use = exam.disk(place.path);
    if (!use || use->total_bytes == 0) continue;
    const double free =
        static_cast<double>(use->free_bytes) / static_cast<double>(use->total_bytes);
    if (kubelet && free < place.least) {
      exam.found(
          fmt::format(
              "{:.0f} % of the disk under {} are free, and the kubelet evicts pods below {:.0f} %",
              100 * free, place.path, 100 * place.least),
          {fmt::format("{}: {} of {} free", place.path, size_text(use->free_bytes),
                       size_text(use->total_bytes))});
    }
    seen += fmt::format(" {} {:.0f} %", place.path, 100 * free);
  }
  exam.fine(seen.empty() ? "no folder of an engine or kubelet is here"
                         : fmt::format("free:{}{}", seen,
                                       kubelet ? "; the kubelet's defaults are 15 and 10 %" : ""));
}

void check_mig_pending(Exam& exam) {
  const auto& context = exam.context();
  if (context.cards.empty()) {
    if (!loaded_driver(exam)) {
      exam.not_here("no module of NVIDIA's is loaded");
      return;
    }
    exam.not_looked("only the driver tells the mode of MIG: " + context.no_driver_facts);
    return;
  }
  for (const auto& card : context.cards) {
    if (card.mig_current == card.mig_pending) continue;
    exam.found(fmt::format("{}: MIG is {}, and {} after its next reset", card.name,
                           card.mig_current, card.mig_pending),
               {fmt::format("{}: MIG mode current {}, pending {}", card.name, card.mig_current,
                            card.mig_pending)});
  }
  exam.fine(fmt::format("{} card{}, none waits for a reset", context.cards.size(),
                        context.cards.size() == 1 ? "" : "s"));
}

void check_gpu_operator(Exam& exam) {
  const auto states = exam.list("/run/nvidia/validations");
  if (states.empty() && !exam.exists("/run/nvidia/validations")) {
    exam.not_here("the GPU operator's validator has left nothing on this node");
    return;
  }
  constexpr auto wanted =
      std::to_array<std::string_view>({"driver-ready", "toolkit-ready", "plugin-ready"});
  for (const auto name : wanted) {
    if (std::ranges::find(states, name) != states.end()) continue;
    exam.found(fmt::format("the operator's validation has not come to {}", name),
               {fmt::format("/run/nvidia/validations: no {}", name)});
  }
  const bool in_container = has_driver_container(exam);
  if (in_container && exam.exists("/usr/bin/nvidia-smi")) {
    exam.found(
            "a driver is installed on the node, and the operator's driver container runs beside it",
            {"/usr/bin/nvidia-smi", "/run/nvidia/driver"})
        .fix = "Remove the node's own driver, or set driver.enabled=false in the ClusterPolicy";
  }
  exam.fine(fmt::format("{} validations are ready, the driver {}", states.size(),
                        in_container ? "is a container's" : "is the node's"));
}

}  // namespace stoker::doctor
