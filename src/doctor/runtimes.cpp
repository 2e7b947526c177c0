#include "doctor/runtimes.h"

#include <algorithm>

#include "catalog/yaml/yaml.h"
#include "doctor/toml.h"

namespace stoker::doctor {
namespace {

std::optional<yaml::Node> toml_file(Exam& exam, const std::string& file) {
  const auto text = exam.read(file);
  if (!text) return std::nullopt;
  auto parsed = parse_toml(*text, file);
  if (!parsed) {
    exam.not_looked(parsed.error().message());
    return std::nullopt;
  }
  return std::move(*parsed);
}

void take_runtimes(const yaml::Node* runtimes, const std::string& file, Engine& engine) {
  if (runtimes == nullptr) return;
  for (const auto& [name, value] : runtimes->entries) {
    const FileLocation place{file, name.place.line, 0};
    std::string binary = text_at(value, {"options", "BinaryName"});
    if (binary.empty()) binary = text_at(value, {"runtime_path"});
    if (binary.empty()) binary = text_at(value, {"path"});
    engine.runtimes.push_back({name.text, std::move(binary), place});
    if (const auto* flag = node_at(value, {"options", "SystemdCgroup"})) {
      engine.systemd_cgroup = flag->text == "true";
      engine.cgroup_place = {file, flag->place.line, 0};
    }
  }
}

// docs/cri/config.md of containerd: the plugin's name is that of version 2 or of 3 and later; CDI is on by default since 2.0,
// whose configuration is of version 3.
void take_containerd(const yaml::Node& root, const std::string& file, Engine& engine) {
  const std::string version = text_at(root, {"version"});
  if (!version.empty() && version != "1" && version != "2") engine.cdi = true;
  for (const auto* plugin : {"io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"}) {
    const auto* cri = node_at(root, {"plugins", plugin});
    if (cri == nullptr) continue;
    take_runtimes(node_at(*cri, {"containerd", "runtimes"}), file, engine);
    const std::string name = text_at(*cri, {"containerd", "default_runtime_name"});
    if (!name.empty()) engine.default_runtime = name;
    const std::string cdi = text_at(*cri, {"enable_cdi"});
    if (!cdi.empty()) engine.cdi = cdi == "true";
  }
}

void read_containerd(Exam& exam, const std::string& file, std::vector<Engine>& engines) {
  const auto root = toml_file(exam, file);
  if (!root) return;
  Engine engine;
  engine.name = "containerd";
  engine.file = file;
  take_containerd(*root, file, engine);
  const auto* imports = node_at(*root, {"imports"});
  for (std::size_t n = 0; imports != nullptr && n < imports->items.size(); ++n) {
    const std::string& pattern = imports->items[n].text;
    const auto folder = pattern.substr(0, pattern.rfind('/'));
    const auto star = pattern.rfind('*');
    std::vector<std::string> files = {pattern};
    if (star != std::string::npos) files = exam.files(folder, pattern.substr(star + 1));
    for (const auto& each : files) {
      if (const auto more = toml_file(exam, each)) take_containerd(*more, each, engine);
    }
  }
  engines.push_back(std::move(engine));
}

// crio.conf(5); the files of crio.conf.d are read in the order of their names. cgroup_manager is systemd by default, and
// CDI is always taken.
void read_crio(Exam& exam, std::vector<Engine>& engines) {
  std::vector<std::string> files = {"/etc/crio/crio.conf"};
  for (auto& each : exam.files("/etc/crio/crio.conf.d", ".conf")) files.push_back(std::move(each));
  Engine engine;
  engine.name = "CRI-O";
  engine.cdi = true;
  engine.systemd_cgroup = true;
  for (const auto& file : files) {
    const auto root = toml_file(exam, file);
    if (!root) continue;
    engine.file = file;
    if (const auto* manager = node_at(*root, {"crio", "runtime", "cgroup_manager"})) {
      engine.systemd_cgroup = manager->text == "systemd";
      engine.cgroup_place = {file, manager->place.line, 0};
    }
    take_runtimes(node_at(*root, {"crio", "runtime", "runtimes"}), file, engine);
    const std::string name = text_at(*root, {"crio", "runtime", "default_runtime"});
    if (!name.empty()) engine.default_runtime = name;
  }
  if (!engine.file.empty()) engines.push_back(std::move(engine));
}

// JSON is YAML; docs.docker.com/reference/cli/dockerd, "Daemon configuration file".
void read_docker(Exam& exam, std::vector<Engine>& engines) {
  constexpr auto* file = "/etc/docker/daemon.json";
  const auto text = exam.read(file);
  if (!text) return;
  const auto root = yaml::parse(*text, file);
  if (!root) {
    exam.not_looked(root.error().message());
    return;
  }
  Engine engine;
  engine.name = "Docker";
  engine.file = file;
  take_runtimes(node_at(*root, {"runtimes"}), file, engine);
  engine.default_runtime = text_at(*root, {"default-runtime"});
  // The default on cgroup v2: docs.docker.com/engine/containers/runmetrics.
  if (exam.exists("/sys/fs/cgroup/cgroup.controllers")) engine.systemd_cgroup = true;
  const auto* options = node_at(*root, {"exec-opts"});
  for (std::size_t n = 0; options != nullptr && n < options->items.size(); ++n) {
    const auto& option = options->items[n];
    if (!option.text.starts_with("native.cgroupdriver=")) continue;
    engine.systemd_cgroup = option.text.ends_with("=systemd");
    engine.cgroup_place = {file, option.place.line, 0};
  }
  engines.push_back(std::move(engine));
}

}  // namespace

const Engine::Runtime* Engine::nvidia() const {
  const auto found = std::ranges::find_if(runtimes, [](const Runtime& runtime) {
    return runtime.binary.find("nvidia-container-runtime") != std::string::npos ||
           runtime.name.starts_with("nvidia");
  });
  return found == runtimes.end() ? nullptr : &*found;
}

std::vector<Engine> read_engines(Exam& exam) {
  std::vector<Engine> engines;
  for (const auto* file :
       {"/etc/containerd/config.toml", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
        "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"}) {
    read_containerd(exam, file, engines);
  }
  read_crio(exam, engines);
  read_docker(exam, engines);
  return engines;
}

std::string program_path(Exam& exam, const std::string& program) {
  if (program.starts_with('/')) return exam.exists(program) ? program : "";
  for (const auto* folder : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin",
                             "/bin", "/usr/local/nvidia/toolkit"}) {
    std::string path = std::string(folder) + "/" + program;
    if (exam.exists(path)) return path;
  }
  return "";
}

std::optional<KubeletConfig> read_kubelet(Exam& exam) {
  for (const auto* file :
       {"/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet-config.yaml",
        "/etc/kubernetes/kubelet/kubelet-config.json", "/etc/kubernetes/kubelet/config.json"}) {
    const auto text = exam.read(file);
    if (!text) continue;
    const auto root = yaml::parse(*text, file);
    if (!root) {
      exam.not_looked(root.error().message());
      return std::nullopt;
    }
    KubeletConfig config;
    config.file = file;
    config.cgroup_driver = text_at(*root, {"cgroupDriver"});
    config.topology_manager = text_at(*root, {"topologyManagerPolicy"});
    config.cpu_manager = text_at(*root, {"cpuManagerPolicy"});
    // The defaults of KubeletConfiguration v1beta1.
    if (config.topology_manager.empty()) config.topology_manager = "none";
    if (config.cpu_manager.empty()) config.cpu_manager = "none";
    return config;
  }
  return std::nullopt;
}

}  // namespace stoker::doctor
