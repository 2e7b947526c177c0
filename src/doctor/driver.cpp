#include "doctor/driver.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace stoker::doctor {
namespace {

constexpr auto library_folders = std::to_array<std::string_view>(
    {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib/x86_64-linux-gnu",
     "/usr/lib64", "/usr/lib/x86_64-linux-gnu/nvidia/current",
     "/usr/lib/aarch64-linux-gnu/nvidia/current", "/usr/local/nvidia/lib64",
     "/run/nvidia/driver/usr/lib/x86_64-linux-gnu", "/run/nvidia/driver/usr/lib64"});

bool is_version(std::string_view text) {
  return std::ranges::count(text, '.') >= 1 &&
         text.find_first_not_of("0123456789.") == std::string_view::npos && !text.starts_with('.');
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<PciFunction> nvidia_functions(Exam& exam, std::string_view class_start,
                                          std::string_view other_start) {
  std::vector<PciFunction> found;
  const auto addresses = exam.list("/sys/bus/pci/devices");
  if (addresses.empty()) exam.not_looked("/sys/bus/pci/devices: no PCI device is listed");
  for (const auto& address : addresses) {
    const std::string folder = "/sys/bus/pci/devices/" + address;
    const auto vendor = exam.word(folder + "/vendor");
    const auto kind = exam.word(folder + "/class");
    if (!vendor || !kind) {
      exam.not_looked(folder + ": vendor or class is missing, so what it is remains unknown");
      continue;
    }
    if (*vendor != "0x10de") continue;
    if (!kind->starts_with(class_start) && !kind->starts_with(other_start)) continue;
    found.push_back({.address = address, .folder = folder});
  }
  return found;
}

}  // namespace

std::optional<std::string> loaded_driver(Exam& exam) {
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ..."
  if (const auto text = exam.read("/proc/driver/nvidia/version")) {
    std::string_view rest(*text);
    rest = rest.substr(0, rest.find('\n'));
    while (!rest.empty()) {
      const auto end = std::min(rest.find(' '), rest.size());
      if (is_version(rest.substr(0, end))) return std::string(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    exam.not_looked("/proc/driver/nvidia/version names no version");
  }
  if (auto version = exam.word("/sys/module/nvidia/version")) return version;
  if (!exam.exists("/proc/modules") && !exam.exists("/sys/module")) {
    exam.not_looked(
        "neither /proc/modules nor /sys/module is there: which modules are loaded is unknown");
  }
  return std::nullopt;
}

std::vector<DriverLibrary> driver_libraries(Exam& exam, std::string_view stem) {
  std::vector<DriverLibrary> found;
  const std::string start = std::string(stem) + ".so.";
  for (const auto folder : library_folders) {
    for (const auto& name : exam.list(folder)) {
      if (!name.starts_with(start)) continue;
      std::string version = name.substr(start.size());
      if (!is_version(version)) continue;
      const std::string path = std::string(folder) + "/" + name;
      // /usr/lib64 and /lib may be one folder by two names, and Debian's alternatives lead elsewhere.
      const bool known = std::ranges::any_of(
          found, [&](const DriverLibrary& other) { return last_part(other.path) == name; });
      if (!known) found.push_back({path, std::move(version)});
    }
  }
  return found;
}

std::vector<PciFunction> nvidia_gpus(Exam& exam) {
  return nvidia_functions(exam, "0x0300", "0x0302");
}

std::vector<PciFunction> nvidia_switches(Exam& exam) {
  return nvidia_functions(exam, "0x0680", "0x0680");
}

std::string driver_of(Exam& exam, const PciFunction& function) {
  const auto driver = exam.link(function.folder + "/driver");
  return driver ? std::string(last_part(*driver)) : "";
}

std::vector<DrivenGpu> driven_gpus(Exam& exam) {
  std::vector<DrivenGpu> found;
  for (const auto& address : exam.list("/proc/driver/nvidia/gpus")) {
    DrivenGpu gpu{.address = address, .model = "", .minor = ""};
    const std::string file = "/proc/driver/nvidia/gpus/" + address + "/information";
    const auto text = exam.read(file);
    if (!text) exam.not_looked(file + ": missing");
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      const auto colon = line.find(':');
      if (colon != std::string_view::npos) {
        const auto value = trimmed(line.substr(colon + 1));
        if (line.substr(0, colon) == "Model") gpu.model = value;
        if (line.substr(0, colon) == "Device Minor") gpu.minor = value;
      }
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    found.push_back(std::move(gpu));
  }
  return found;
}

bool has_driver_container(Exam& exam) {
  // gpu-operator, validator: where the driver's root is mounted, and what its container writes once it is ready.
  return exam.exists("/run/nvidia/driver/usr/bin/nvidia-smi") ||
         exam.exists("/run/nvidia/validations/.driver-ctr-ready");
}

bool is_running(Exam& exam, std::string_view command) {
  const auto cut = command.substr(0, 15);
  for (const auto& name : exam.list("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    if (exam.word("/proc/" + name + "/comm").value_or("") == cut) return true;
  }
  return false;
}

}  // namespace stoker::doctor
