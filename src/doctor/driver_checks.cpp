// Analyzer stage: the module in the kernel, its libraries, and who else wants the cards.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "catalog/yaml/yaml.h"
#include "doctor/checks.h"
#include "doctor/driver.h"
#include "doctor/modprobe.h"

namespace stoker::doctor {

void check_driver_loaded(Exam& exam) {
  const auto gpus = nvidia_gpus(exam);
  const auto driver = loaded_driver(exam);
  if (gpus.empty() && !driver) {
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
    return;
  }
  // A restart may cure what is so now, and nothing tells whether it does.
  const bool before = exam.context().gate == Gate::before;
  if (!driver && before) {
    exam.not_looked(
        "no module of NVIDIA's is loaded now, so whether the next start loads it is unknown");
    return;
  }
  if (!driver) {
    exam.found(fmt::format("{} NVIDIA GPU{} on the PCI bus, and no NVIDIA module in the kernel",
                           gpus.size(), gpus.size() == 1 ? "" : "s"),
               {"there is no /proc/driver/nvidia/version"});
    return;
  }
  for (const auto& gpu : gpus) {
    const std::string driving = driver_of(exam, gpu);
    if (driving == "nvidia") continue;
    if (before) {
      exam.not_looked(
          fmt::format("GPU {} is driven by {} now, and who takes it at the next start is unknown",
                      gpu.address, driving.empty() ? "nobody" : driving));
      continue;
    }
    exam.found(fmt::format("GPU {} is not driven by the module nvidia", gpu.address),
               {fmt::format("{}/driver: {}", gpu.folder, driving.empty() ? "none" : driving)});
  }
  exam.fine(fmt::format("driver {}, {} GPU{}", *driver, gpus.size(), gpus.size() == 1 ? "" : "s"));
}

void check_gpu_count(Exam& exam) {
  const auto gpus = nvidia_gpus(exam);
  std::optional<std::size_t> expected;
  constexpr auto* file = "/etc/stoker/stoker.yaml";
  if (const auto text = exam.read(file)) {
    const auto config = yaml::parse(*text, file);
    if (!config) exam.not_looked(config.error().message());
    const auto* section = config ? yaml::child_of(*config, "expect") : nullptr;
    const auto* count = section == nullptr ? nullptr : yaml::child_of(*section, "gpus");
    if (count != nullptr) expected = whole_number<std::size_t>(count->text);
  }
  const std::string seen =
      fmt::format("{} NVIDIA GPU{} on the PCI bus", gpus.size(), gpus.size() == 1 ? "" : "s");
  if (expected && *expected != gpus.size()) {
    exam.found(
        fmt::format("{}, and {} {} expected", seen, *expected, *expected == 1 ? "is" : "are"),
        {fmt::format("{}: expect.gpus: {}", file, *expected)});
  } else if (!expected && gpus.empty()) {
    const auto libraries = driver_libraries(exam, "libnvidia-ml");
    if (!libraries.empty()) {
      exam.found("NVIDIA's driver is installed, and no NVIDIA GPU is on the PCI bus",
                 {libraries.front().path});
    }
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
  }
  exam.fine(fmt::format("{}, {}", seen,
                        expected ? "as expected" : "and nothing says how many there should be"));
}

void check_driver_library(Exam& exam) {
  const auto driver = loaded_driver(exam);
  if (!driver) {
    exam.not_here("no module of NVIDIA's is loaded");
    return;
  }
  std::vector<DriverLibrary> libraries;
  for (const auto* stem : {"libnvidia-ml", "libcuda"}) {
    for (auto& library : driver_libraries(exam, stem)) libraries.push_back(std::move(library));
  }
  if (libraries.empty()) {
    exam.not_looked(
        "no libnvidia-ml.so.VERSION lies where it is looked for: the driver's libraries may stand "
        "elsewhere (a driver container, nix)");
    return;
  }
  const bool has_cuda = std::ranges::any_of(libraries, [](const DriverLibrary& library) {
    return library.path.find("/libcuda.so.") != std::string::npos;
  });
  if (!has_cuda && !exam.context().in_container) {
    exam.not_looked(
        "no libcuda.so.VERSION lies where it is looked for: whether CUDA finds one is unknown");
  }
  std::vector<std::string> others;
  bool one_fits = false;
  for (const auto& library : libraries) {
    one_fits = one_fits || library.version == *driver;
    if (library.version != *driver) others.push_back(library.path);
  }
  if (!others.empty() && !one_fits) {
    others.push_back("module in the kernel: " + *driver);
    Finding& finding = exam.found(
        fmt::format("the module in the kernel is {}, its libraries are of another version",
                    *driver),
        std::move(others));
    // The restart is the cure where the next module fits them, which next-kernel judges.
    if (exam.context().gate == Gate::before) finding.severity = Severity::warning;
  } else if (!others.empty()) {
    others.push_back("module in the kernel: " + *driver);
    exam.found("libraries of several driver versions lie beside each other", std::move(others))
        .severity = Severity::warning;
  }
  exam.fine(fmt::format("module and libraries are {}", *driver));
}

namespace {

// Does a file of modprobe's or the kernel's command line keep nouveau out? Says where.
std::string nouveau_ban(Exam& exam) {
  for (const auto& line : read_modprobe(exam).lines) {
    const auto& words = line.words;
    if (words[1] != "nouveau") continue;
    const bool is_install = words[0] == "install" && words.size() > 2 &&
                            (words[2].ends_with("/false") || words[2].ends_with("/true"));
    if (words[0] == "blacklist" || is_install) return line.file;
  }
  const std::string command_line = exam.read("/proc/cmdline").value_or("");
  for (const auto* word : {"modprobe.blacklist=nouveau", "rd.driver.blacklist=nouveau",
                           "module_blacklist=nouveau", "nouveau.modeset=0"}) {
    if (command_line.find(word) != std::string::npos) return "/proc/cmdline";
  }
  return "";
}

bool has_module(std::string_view modules, std::string_view name) {
  const std::string start = std::string(name) + " ";
  return modules.starts_with(start) || modules.find("\n" + start) != std::string_view::npos;
}

}  // namespace

void check_nouveau(Exam& exam) {
  const auto modules = exam.read("/proc/modules");
  if (modules && has_module(*modules, "nouveau")) {
    exam.found("nouveau is loaded", {"/proc/modules: nouveau"});
    return;
  }
  const bool has_gpu = !nvidia_gpus(exam).empty();
  if (!has_gpu && !loaded_driver(exam)) {
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
    return;
  }
  if (!modules && !exam.has_unread()) {
    exam.not_looked("/proc/modules: missing, so whether nouveau is loaded is unknown");
  }
  const std::string ban = nouveau_ban(exam);
  if (!ban.empty()) {
    exam.fine("not loaded, and kept out by " + ban);
    return;
  }
  const auto kernel = exam.word("/proc/sys/kernel/osrelease");
  if (!kernel && !exam.has_unread()) {
    exam.not_looked("/proc/sys/kernel/osrelease: missing, so the kernel is unknown");
  }
  const std::string folder =
      fmt::format("/lib/modules/{}/kernel/drivers/gpu/drm/nouveau", kernel.value_or(""));
  if (!exam.list(folder).empty() && !exam.has_unread()) {
    exam.found(
            "nothing keeps nouveau from loading at the next start",
            {"no `blacklist nouveau` in modprobe's files or on the kernel's command line", folder})
        .severity = Severity::warning;
  }
  exam.fine("not loaded, and this kernel has none");
}

void check_device_nodes(Exam& exam) {
  const auto driver = loaded_driver(exam);
  if (!driver) {
    exam.not_here("no module of NVIDIA's is loaded");
    return;
  }
  // /proc/devices: "195 nvidia", "510 nvidia-uvm"; 195 is NVIDIA's own number (admin-guide/devices.txt).
  std::map<std::string, std::string> majors;
  const std::string devices = exam.read("/proc/devices").value_or("");
  for (const auto* name : {"nvidia", "nvidia-frontend", "nvidia-uvm"}) {
    const auto at = devices.find(std::string(" ") + name + "\n");
    if (at == std::string::npos) continue;
    const auto start = devices.rfind('\n', at) + 1;
    majors[name] = devices.substr(devices.find_first_not_of(' ', start),
                                  at - devices.find_first_not_of(' ', start));
  }
  std::vector<std::pair<std::string, std::string>> wanted = {{"/dev/nvidiactl", "195"}};
  if (majors.contains("nvidia-uvm")) wanted.emplace_back("/dev/nvidia-uvm", majors["nvidia-uvm"]);
  const auto gpus = driven_gpus(exam);
  for (const auto& gpu : gpus) {
    if (!gpu.minor.empty()) wanted.emplace_back("/dev/nvidia" + gpu.minor, "195");
  }
  for (const auto& [path, major] : wanted) {
    const auto facts = exam.facts(path);
    if (!facts) {
      if (!exam.has_unread()) exam.found(path + " is missing", {path + ": no such file"});
    } else if (facts->kind != FileFacts::Kind::device) {
      exam.not_looked(path + ": an ordinary file stands in its place, as in a copy of a node");
    } else if (std::to_string(facts->major) != major) {
      exam.found(
          fmt::format("{} has the number {}, and the driver listens to {}", path, facts->major,
                      major),
          {fmt::format("{}: {}:{}", path, facts->major, facts->minor), "/proc/devices: " + major});
    } else if ((facts->mode & 0666U) != 0666U) {
      exam.found(fmt::format("only some users may open {}", path),
                 {fmt::format("{}: mode {:04o}", path, facts->mode)})
          .severity = Severity::warning;
    }
  }
  if (!majors.contains("nvidia-uvm")) {
    Finding& finding = exam.found("nvidia-uvm is not loaded, which CUDA can't do without",
                                  {"/proc/devices: no nvidia-uvm"});
    // nvidia-modprobe loads it for programs of the node; for those in containers nobody does.
    finding.severity = Severity::warning;
    finding.fix =
        "`nvidia-modprobe -u -c 0` at boot, or nvidia-uvm in a file of /etc/modules-load.d";
  }
  exam.fine(fmt::format("{} device files", wanted.size()));
}

}  // namespace stoker::doctor
