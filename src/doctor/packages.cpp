#include "doctor/packages.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stoker::doctor {
namespace {

// Debian Policy 5.1: "Field: value"; dpkg(1): Status is "want flag state".
void take_line(Package& package, std::string_view line) {
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos) return;
  const auto key = line.substr(0, colon);
  const auto value = line.substr(colon + 2);
  if (key == "Package") package.name = value;
  if (key == "Version") package.version = value;
  if (key == "Status") {
    package.on_hold = value.starts_with("hold ");
    package.state = value.substr(value.rfind(' ') + 1);
  }
}

}  // namespace

const Package* Packages::find(std::string_view name) const {
  const auto found = std::ranges::find(all, name, &Package::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<Package> parse_dpkg_status(std::string_view text) {
  std::vector<Package> packages;
  Package package;
  const auto finish = [&] {
    const bool gone = package.state == "not-installed" || package.state == "config-files";
    if (!package.name.empty() && !package.state.empty() && !gone) {
      packages.push_back(std::move(package));
    }
    package = {};
  };
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (line.empty()) {
      finish();
    } else if (line.front() != ' ') {
      take_line(package, line);
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  finish();
  return packages;
}

Packages read_packages(Exam& exam) {
  // A machine with a desktop has some 5 MiB of it.
  constexpr std::size_t largest_status = 64 << 20;
  Packages packages;
  if (const auto text = exam.read("/var/lib/dpkg/status", largest_status)) {
    packages.all = parse_dpkg_status(*text);
    packages.known = !packages.all.empty();
    if (!packages.known) exam.not_looked("/var/lib/dpkg/status: names no installed package");
    return packages;
  }
  for (const auto* folder : {"/var/lib/rpm", "/usr/lib/sysimage/rpm"}) {
    if (!exam.list(folder).empty()) {
      exam.not_looked(std::string(folder) + ": only rpm reads its database; see `rpm -qa`");
      return packages;
    }
  }
  if (!exam.has_unread()) exam.not_looked("there is no /var/lib/dpkg/status: packages are unknown");
  return packages;
}

std::string_view upstream_version(std::string_view version) {
  if (const auto colon = version.find(':'); colon != std::string_view::npos) {
    version.remove_prefix(colon + 1);
  }
  return version.substr(0, version.find_first_of("-+~"));
}

bool is_driver_package(std::string_view name) {
  // Not parts of the driver: the container toolkit, CUDA's own packages, and tools that only talk to it.
  constexpr auto others = std::to_array<std::string_view>(
      {"nvidia-container", "nvidia-cuda-toolkit", "nvidia-docker",    "nvidia-settings",
       "nvidia-prime",     "nvidia-common",       "nvidia-modprobe",  "libnvidia-container",
       "nvidia-xconfig",   "nvidia-support",      "nvidia-installer", "nvidia-firmware",
       "libnvidia-ml-dev", "nvidia-vaapi",        "nvidia-egl",       "libnvidia-egl",
       "nvidia-gds",       "nvidia-fs",           "nvidia-vdpau",     "nvidia-profiler",
       "nvidia-visual",    "nvidia-nsight",       "nvidia-opencl",    "nvidia-pyindex",
       "nvidia-cudnn",     "nvidia-legacy",       "nvidia-tesla"});
  if (std::ranges::any_of(others, [&](auto other) { return name.starts_with(other); })) {
    return false;
  }
  constexpr auto starts =
      std::to_array<std::string_view>({"nvidia-", "libnvidia-", "linux-modules-nvidia-",
                                       "linux-objects-nvidia-", "libcuda1", "cuda-drivers"});
  return std::ranges::any_of(starts, [&](auto start) { return name.starts_with(start); });
}

std::string_view branch_in_name(std::string_view name) {
  while (!name.empty()) {
    const auto part = name.substr(0, name.find('-'));
    if (part.size() == 3 && whole_number<int>(part).value_or(0) >= 300) return part;
    name.remove_prefix(std::min(part.size() + 1, name.size()));
  }
  return {};
}

}  // namespace stoker::doctor
