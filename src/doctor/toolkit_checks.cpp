// Analyzer stage: NVIDIA's container toolkit, the engines, and what takes the GPUs from running containers.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks.h"
#include "doctor/driver.h"
#include "doctor/kernels.h"
#include "doctor/packages.h"
#include "doctor/runtimes.h"
#include "doctor/toml.h"

namespace stoker::doctor {
namespace {

constexpr auto* toolkit_file = "/etc/nvidia-container-runtime/config.toml";

// nullopt: there is none, or it is broken, which is then a finding or remembered.
std::optional<yaml::Node> toolkit_config(Exam& exam) {
  const auto text = exam.read(toolkit_file);
  if (!text) return std::nullopt;
  auto parsed = parse_toml(*text, toolkit_file);
  if (parsed) return std::move(*parsed);
  exam.not_looked(parsed.error().message());
  return std::nullopt;
}

FileLocation place_of_cgroups(const Engine& engine) {
  return engine.cgroup_place.file.empty() ? FileLocation{engine.file, 0, 0} : engine.cgroup_place;
}

FileLocation in_toolkit_file(const yaml::Node& node) { return {toolkit_file, node.place.line, 0}; }

}  // namespace

void check_toolkit_config(Exam& exam) {
  const auto config = toolkit_config(exam);
  if (!config) {
    exam.not_here("NVIDIA's container toolkit has no configuration here");
    return;
  }
  const auto* no_cgroups = node_at(*config, {"nvidia-container-cli", "no-cgroups"});
  if (no_cgroups != nullptr && no_cgroups->text == "true") {
    exam.found_at(
        in_toolkit_file(*no_cgroups),
        "no-cgroups is on: containers that root's engine starts get no right to their GPUs",
        {"no-cgroups = true"});
  }
  // Modes of the runtime: nvidia-container-toolkit, internal/config.
  constexpr auto modes =
      std::to_array<std::string_view>({"auto", "legacy", "csv", "cdi", "jit-cdi"});
  const auto* mode = node_at(*config, {"nvidia-container-runtime", "mode"});
  if (mode != nullptr && std::ranges::find(modes, mode->text) == modes.end()) {
    exam.found_at(in_toolkit_file(*mode), fmt::format("there is no mode '{}'", mode->text),
                  {"mode = \"" + mode->text + "\""});
  }
  // A program is taken from the host with '@'; Debian and Ubuntu have the real one as ldconfig.real.
  const auto* ldconfig = node_at(*config, {"nvidia-container-cli", "ldconfig"});
  if (ldconfig != nullptr && ldconfig->text.starts_with('@') &&
      !exam.exists(ldconfig->text.substr(1))) {
    exam.found_at(in_toolkit_file(*ldconfig),
                  fmt::format("{} does not exist on this node", ldconfig->text.substr(1)),
                  {"ldconfig = \"" + ldconfig->text + "\""});
  }
  const auto* runtimes = node_at(*config, {"nvidia-container-runtime", "runtimes"});
  if (runtimes != nullptr && !runtimes->items.empty() &&
      std::ranges::none_of(runtimes->items, [&](const yaml::Node& name) {
        return !program_path(exam, name.text).empty();
      })) {
    exam.found_at(in_toolkit_file(*runtimes),
                  "none of the runtimes that it hands on to is installed",
                  {runtimes->items.front().text});
  }
  exam.fine(fmt::format("{}: mode {}", toolkit_file, mode == nullptr ? "auto" : mode->text));
}

void check_container_runtime(Exam& exam) {
  const auto engines = read_engines(exam);
  const auto kubelet = read_kubelet(exam);
  if (engines.empty()) {
    exam.not_here("no container engine is set up by a file here");
    return;
  }
  std::string seen;
  for (const auto& engine : engines) {
    const auto* runtime = engine.nvidia();
    const bool for_kubelet = kubelet && engine.name != "Docker";
    if (runtime == nullptr && !engine.cdi && for_kubelet) {
      exam.found_at({engine.file, 0, 0},
                    fmt::format("{} knows neither a runtime of NVIDIA's nor CDI: pods get no GPU",
                                engine.name),
                    {engine.file + ": no runtime nvidia, and enable_cdi is not on"});
    }
    if (runtime != nullptr && !runtime->binary.empty() &&
        program_path(exam, runtime->binary).empty()) {
      exam.found_at(runtime->place,
                    fmt::format("the runtime '{}' of {} is {}, which does not exist", runtime->name,
                                engine.name, runtime->binary),
                    {fmt::format("{}: {}", engine.file, runtime->binary)});
    }
    seen += fmt::format("{}{}{}: {}", seen.empty() ? "" : "; ", engine.name,
                        for_kubelet ? " for the kubelet" : "",
                        runtime != nullptr ? "runtime " + runtime->name
                        : engine.cdi       ? "CDI"
                                           : "no runtime of NVIDIA's");
  }
  exam.fine(seen);
}

void check_cgroup_trap(Exam& exam) {
  std::string names;
  FileLocation place;
  for (const auto& engine : read_engines(exam)) {
    if (!engine.systemd_cgroup.value_or(false) || engine.nvidia() == nullptr) continue;
    if (names.empty()) place = place_of_cgroups(engine);
    names += (names.empty() ? "" : ", ") + engine.name + " (" + engine.nvidia()->place.file + ")";
  }
  if (names.empty()) {
    exam.not_here("no engine with NVIDIA's runtime lets systemd manage its cgroups");
    return;
  }
  const auto config = toolkit_config(exam);
  const std::string mode = config ? text_at(*config, {"nvidia-container-runtime", "mode"}) : "";
  const bool is_auto = mode.empty() || mode == "auto";
  const Packages packages = read_packages(exam);
  const Package* toolkit = packages.find("nvidia-container-toolkit");
  const std::string what = fmt::format("{}; toolkit {}, mode {}{}", names,
                                       toolkit == nullptr ? "of unknown version" : toolkit->version,
                                       is_auto ? "auto" : mode, config ? "" : " by default");
  // Since 1.18 `auto` means jit-cdi; CDI names the device files to the engine, which then keeps their right itself.
  const bool is_new = toolkit != nullptr && compare_versions(toolkit->version, "1.18") >= 0;
  if (mode == "cdi" || mode == "jit-cdi" || (is_auto && is_new)) {
    exam.fine(what);
    return;
  }
  const auto gpus = driven_gpus(exam);
  if (gpus.empty())
    exam.not_looked(what +
                    "; /proc/driver/nvidia/gpus lists no GPU whose link could be looked for");
  std::vector<std::string> missing;
  for (const auto& gpu : gpus) {
    const std::string link = "/dev/char/195:" + gpu.minor;
    if (!gpu.minor.empty() && !exam.exists(link)) missing.push_back(link + ": missing");
  }
  if (missing.empty()) {
    exam.fine(what + "; /dev/char has a link for every GPU");
    return;
  }
  if (is_auto && toolkit == nullptr) {
    exam.not_looked(what +
                    ": before 1.18 running containers lose their GPUs here when systemd reloads");
    return;
  }
  missing.insert(missing.begin(), what);
  exam.found_at(place,
                "the next `systemctl daemon-reload` takes the GPUs from every running container",
                std::move(missing));
}

void check_cgroup_driver(Exam& exam) {
  const auto kubelet = read_kubelet(exam);
  if (!kubelet) {
    exam.not_here("no kubelet is set up by a file here");
    return;
  }
  if (kubelet->cgroup_driver.empty()) {
    exam.fine("the kubelet's file leaves it to the default, or to the engine");
    return;
  }
  const bool systemd = kubelet->cgroup_driver == "systemd";
  std::string files;
  for (const auto& engine : read_engines(exam)) {
    if (engine.name == "Docker") continue;
    files += " " + engine.cgroup_place.file;
    const bool of_engine = engine.systemd_cgroup.value_or(false);
    if (of_engine == systemd) continue;
    exam.found_at(
        place_of_cgroups(engine),
        fmt::format("the kubelet's cgroups are managed by {}, those of {} by {}",
                    kubelet->cgroup_driver, engine.name, of_engine ? "systemd" : "cgroupfs"),
        {fmt::format("{}: cgroupDriver: {}", kubelet->file, kubelet->cgroup_driver),
         fmt::format("{}: SystemdCgroup = {}", engine.file, of_engine)});
  }
  if (files.empty()) {
    exam.not_looked(
        "no file of containerd or CRI-O is where it is looked for, so how the kubelet's engine "
        "manages "
        "cgroups is unknown");
  }
  exam.fine(fmt::format("{} in {} and{}", kubelet->cgroup_driver, kubelet->file, files));
}

void check_docker_daemon(Exam& exam) {
  constexpr auto* file = "/etc/docker/daemon.json";
  const Packages packages = exam.exists("/etc/docker") ? read_packages(exam) : Packages{};
  if (packages.find("nvidia-docker2") != nullptr) {
    exam.found("nvidia-docker2 is installed, a wrapper that is no longer made",
               {"nvidia-docker2 " + packages.find("nvidia-docker2")->version})
        .severity = Severity::warning;
  }
  const auto text = exam.read(file);
  if (!text) {
    exam.not_here("Docker has no daemon.json here");
    return;
  }
  const auto root = yaml::parse(*text, file);
  if (!root) {
    exam.found_at({file, 0, 0}, "daemon.json can't be parsed: dockerd does not start",
                  {root.error().message()});
    return;
  }
  const std::string chosen = text_at(*root, {"default-runtime"});
  const bool known =
      chosen.empty() || chosen == "runc" || node_at(*root, {"runtimes", chosen}) != nullptr;
  if (!known) {
    exam.found_at({file, node_at(*root, {"default-runtime"})->place.line, 0},
                  fmt::format("the default runtime '{}' is not among the runtimes", chosen),
                  {"default-runtime: " + chosen});
  }
  exam.fine(fmt::format("{}: default runtime {}", file, chosen.empty() ? "runc" : chosen));
}

}  // namespace stoker::doctor
