// Analyzer stage: what a container lacks for GPU work, and which line brings it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

#include "doctor/checks.h"
#include "doctor/driver.h"

namespace stoker::doctor {
namespace {

// The value of a variable that this process was started with, as every process of the container is, or process 1 of a copy;
// nullopt: it is not set, or may not be read, which is then remembered.
std::optional<std::string> variable(Exam& exam, std::string_view name) {
  auto text = exam.read("/proc/self/environ");
  if (!text) text = exam.read("/proc/1/environ");
  if (!text) return std::nullopt;
  std::string_view rest(*text);
  while (!rest.empty()) {
    const auto one = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) {
      return std::string(trimmed(one.substr(name.size() + 1), "\n"));
    }
  }
  return std::nullopt;
}

// /dev/nvidia0, /dev/nvidia1, ...
std::vector<std::string> gpu_files(Exam& exam) {
  std::vector<std::string> found;
  for (const auto& name : exam.list("/dev")) {
    constexpr std::string_view start = "nvidia";
    const bool numbered = name.size() > start.size() && name.starts_with(start) &&
                          std::isdigit(static_cast<unsigned char>(name[start.size()])) != 0;
    if (numbered) found.push_back("/dev/" + name);
  }
  return found;
}

}  // namespace

void check_container_gpu(Exam& exam) {
  const auto files = gpu_files(exam);
  const auto visible = variable(exam, "NVIDIA_VISIBLE_DEVICES");
  const std::string told =
      visible ? "NVIDIA_VISIBLE_DEVICES=" + *visible : "NVIDIA_VISIBLE_DEVICES is not set";
  if (files.empty()) {
    Finding& finding = exam.found("this container has no GPU", {"/dev: no nvidiaN", told});
    if (!loaded_driver(exam))
      finding.evidence.emplace_back(
          "/proc/driver/nvidia/version: none, so the node may have no GPU either");
    if (visible && *visible != "void" && *visible != "none" && !visible->empty()) {
      finding.fix =
          "A GPU was asked for and nothing put it in: the engine does not use NVIDIA's runtime. In "
          "the pod: "
          "runtimeClassName: nvidia; on the node see container-runtime";
    }
    return;
  }
  if (!exam.exists("/dev/nvidia-uvm") || !exam.exists("/dev/nvidiactl")) {
    exam.found("the container has a GPU's device file and lacks those that every program opens",
               {"/dev/nvidiactl or /dev/nvidia-uvm: missing", told})
        .fix =
        "Let NVIDIA's runtime or CDI bring the devices (resources.limits nvidia.com/gpu) in place "
        "of single "
        "hostPath mounts; on the node `modprobe nvidia-uvm`";
  }
  exam.fine(fmt::format("{} device file{}, {}", files.size(), files.size() == 1 ? "" : "s", told));
}

void check_container_libraries(Exam& exam) {
  if (gpu_files(exam).empty()) {
    exam.not_here("this container has no GPU");
    return;
  }
  const auto capabilities = variable(exam, "NVIDIA_DRIVER_CAPABILITIES");
  const std::string told = capabilities ? "NVIDIA_DRIVER_CAPABILITIES=" + *capabilities
                                        : "NVIDIA_DRIVER_CAPABILITIES is not set";
  struct Part {
    const char* stem;
    const char* capability;
    const char* who;
  };
  for (const Part part : {Part{"libcuda", "compute", "CUDA"},
                          Part{"libnvidia-ml", "utility", "nvidia-smi and every monitor"}}) {
    if (!driver_libraries(exam, part.stem).empty()) continue;
    exam.found(fmt::format("{} is not in the container, which {} can't do without", part.stem,
                           part.who),
               {fmt::format("no {}.so.VERSION where the loader looks", part.stem), told})
        .fix = fmt::format(
        "In the pod: env: [{{name: NVIDIA_DRIVER_CAPABILITIES, value: \"compute,utility\"}}] ({} "
        "is the "
        "capability that brings it)",
        part.capability);
  }
  exam.fine("libcuda and libnvidia-ml are there; " + told);
}

void check_container_rdma(Exam& exam) {
  const auto cards = exam.list("/sys/class/infiniband");
  if (cards.empty()) {
    exam.not_here("the node has no RDMA device");
    return;
  }
  const auto files = exam.list("/dev/infiniband");
  const bool verbs = std::ranges::any_of(
      files, [](const std::string& name) { return name.starts_with("uverbs"); });
  if (!verbs) {
    exam.found(fmt::format("the node has {} RDMA device{}, and the container may open none",
                           cards.size(), cards.size() == 1 ? "" : "s"),
               {"/sys/class/infiniband/" + cards.front(), "/dev/infiniband: no uverbsN"});
  }
  exam.fine(fmt::format("{} files in /dev/infiniband", files.size()));
}

namespace {

struct Need {
  std::string_view path;  // what has to be there
  std::string_view lost;  // without it
  std::string_view line;  // of the pod that brings it
};

constexpr Need needs[] = {
#define STOKER_NEED(path, lost, line) {path, lost, line},
#include "doctor/needs.def"
#undef STOKER_NEED
};

}  // namespace

void check_stoker_needs(Exam& exam) {
  std::size_t there = 0;
  for (const Need& need : needs) {
    if (exam.exists(need.path)) {
      ++there;
      continue;
    }
    exam.found(fmt::format("without {} an agent here has no {}", need.path, need.lost),
               {fmt::format("{}: missing", need.path)})
        .fix = need.line;
  }
  // Inside a pid namespace of its own process 1 is the container's.
  const std::string first = exam.word("/proc/1/comm").value_or("");
  if (exam.word("/proc/sys/kernel/dmesg_restrict").value_or("0") == "1") {
    exam.found("the kernel's log is for those who have CAP_SYSLOG",
               {"/proc/sys/kernel/dmesg_restrict: 1"})
        .fix =
        "In the pod: securityContext: {capabilities: {add: [SYSLOG]}}; without it Xids are seen in "
        "the journal alone, if that is mounted";
  }
  if (first != "systemd" && first != "init") {
    exam.found("an agent here has no names of processes", {"/proc/1/comm: " + first}).fix =
        "In the pod: hostPID: true";
  }
  exam.fine(fmt::format("all {} are there", there));
}

}  // namespace stoker::doctor
