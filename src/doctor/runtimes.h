// Analyzer stage: how the container engines of a node are set up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/exam.h"

namespace stoker::doctor {

// One engine, as its configuration files say; what they leave open has the engine's own default.
struct Engine {
  std::string name;  // "containerd", "CRI-O", "Docker"
  std::string file;  // that says most
  struct Runtime {
    std::string name;
    std::string binary;  // empty: not said
    FileLocation place;
  };
  std::vector<Runtime> runtimes;
  std::string default_runtime;
  std::optional<bool> systemd_cgroup;  // nullopt: not said
  FileLocation cgroup_place;
  bool cdi = false;  // takes CDI names from the kubelet or the command line

  [[nodiscard]] const Runtime* nvidia() const;
};

// containerd, also as k3s and RKE2 have it, with the files that it imports from a folder; CRI-O; Docker. A file that is
// no TOML or JSON is remembered as not looked at.
std::vector<Engine> read_engines(Exam& exam);

// Where a program lies, "" if nowhere: an absolute path as it is, a name along the usual PATH.
std::string program_path(Exam& exam, const std::string& program);

struct KubeletConfig {
  std::string file;
  std::string cgroup_driver;     // "systemd", "cgroupfs"; empty: not said
  std::string topology_manager;  // "none" if not said
  std::string cpu_manager;
};
// nullopt: this node has no kubelet's configuration where kubeadm, RKE2 and the clouds put it.
std::optional<KubeletConfig> read_kubelet(Exam& exam);

}  // namespace stoker::doctor
