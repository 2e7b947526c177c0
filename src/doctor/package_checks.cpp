// Analyzer stage: packages that drift apart.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "doctor/checks.h"
#include "doctor/packages.h"

namespace stoker::doctor {
namespace {

std::string line_of(const Package& package) {
  return fmt::format("{} {} ({}{})", package.name, package.version, package.on_hold ? "hold, " : "",
                     package.state);
}

// linux-image-generic, linux-image-aws, linux-headers-amd64: what brings the next version. linux-image-6.8.0-60-generic
// has a digit where its version begins.
bool is_kernel_meta(std::string_view name) {
  for (const auto* start : {"linux-image-", "linux-headers-"}) {
    if (!name.starts_with(start)) continue;
    const auto rest = name.substr(std::string_view(start).size());
    return std::isdigit(static_cast<unsigned char>(rest.front())) == 0 &&
           !rest.starts_with("unsigned-") && !rest.starts_with("extra-");
  }
  return name == "linux-generic" || name == "linux-aws" || name == "linux-gcp" ||
         name == "linux-azure";
}

bool is_kernel_image(std::string_view name) {
  constexpr std::string_view start = "linux-image-";
  return name.starts_with(start) && name.size() > start.size() &&
         std::isdigit(static_cast<unsigned char>(name[start.size()])) != 0;
}

std::vector<Package> driver_packages(const Packages& packages) {
  std::vector<Package> found;
  std::ranges::copy_if(packages.all, std::back_inserter(found),
                       [](const Package& package) { return is_driver_package(package.name); });
  return found;
}

}  // namespace

void check_package_state(Exam& exam) {
  const Packages packages = read_packages(exam);
  if (!packages.known) return;
  const auto drivers = driver_packages(packages);
  if (drivers.empty()) {
    exam.not_here("no package of NVIDIA's driver is installed");
    return;
  }
  std::map<std::string, std::map<std::string, std::vector<std::string>>>
      versions;  // branch, version
  for (const auto& package : drivers) {
    if (package.state != "installed") {
      exam.found(fmt::format("package {} is {}", package.name, package.state), {line_of(package)});
    }
    const auto branch = branch_in_name(package.name);
    const std::string version(upstream_version(package.version));
    // Prebuilt modules of Ubuntu's have their kernel's version.
    if (package.name.starts_with("linux-") || branch.empty()) continue;
    if (version.starts_with(branch))
      versions[std::string(branch)][version].push_back(line_of(package));
  }
  for (const auto& [branch, by_version] : versions) {
    if (by_version.size() < 2) continue;
    std::vector<std::string> evidence;
    for (const auto& [version, lines] : by_version) evidence.push_back(lines.front());
    exam.found(
        fmt::format("packages of driver branch {} are of {} versions", branch, by_version.size()),
        std::move(evidence));
  }
  exam.fine(fmt::format("{} packages of the driver, whole and of one version", drivers.size()));
}

void check_package_holds(Exam& exam) {
  const Packages packages = read_packages(exam);
  if (!packages.known) return;
  const auto drivers = driver_packages(packages);
  std::vector<std::string> held;
  std::vector<std::string> free;
  for (const auto& package : drivers) (package.on_hold ? held : free).push_back(line_of(package));
  if (!held.empty() && !free.empty()) {
    const auto counts = fmt::format("{} of the driver's packages are on hold, {} are not",
                                    held.size(), free.size());
    exam.found(counts, {held.front(), free.front()});
  }
  for (const auto& package : packages.all) {
    if (!package.on_hold || !is_kernel_image(package.name)) continue;
    const auto meta = std::ranges::find_if(packages.all, [](const Package& other) {
      return is_kernel_meta(other.name) && !other.on_hold;
    });
    if (meta == packages.all.end()) continue;
    exam.found(fmt::format("kernel {} is on hold, and {} brings the next one all the same",
                           package.name, meta->name),
               {line_of(package), line_of(*meta)});
  }
  exam.fine(held.empty() ? "nothing of the driver is on hold" : "all of the driver is on hold");
}

namespace {

// The values of `key` in apt's files, "KEY "value";" at the start of a line; the last one counts (apt.conf(5)).
std::optional<FileLocation> unattended_upgrades_on(Exam& exam) {
  std::optional<FileLocation> on;
  for (const auto& path : exam.list("/etc/apt/apt.conf.d")) {
    const std::string file = "/etc/apt/apt.conf.d/" + path;
    const std::string text = exam.read(file).value_or("");
    int number = 0;
    std::string_view rest(text);
    while (!rest.empty()) {
      ++number;
      const auto line = rest.substr(0, rest.find('\n'));
      if (line.starts_with("APT::Periodic::Unattended-Upgrade ")) {
        on.reset();
        if (line.find("\"0\"") == std::string_view::npos) on = FileLocation{file, number, 0};
      }
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  return on;
}

// Does a package name of NVIDIA's stand between the braces of the blacklist, outside of comments?
bool blacklist_has_nvidia(Exam& exam) {
  for (const auto& path : exam.list("/etc/apt/apt.conf.d")) {
    const std::string text = exam.read("/etc/apt/apt.conf.d/" + path).value_or("");
    auto at = text.find("Unattended-Upgrade::Package-Blacklist");
    if (at == std::string::npos) continue;
    const auto end = text.find("};", at);
    std::string_view rest =
        std::string_view(text).substr(at, end == std::string::npos ? end : end - at);
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      const auto code = line.substr(0, line.find("//"));
      if (code.find("nvidia") != std::string_view::npos) return true;
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  return false;
}

bool dnf_applies_updates(Exam& exam) {
  const std::string text = exam.read("/etc/dnf/automatic.conf").value_or("");
  return text.find("\napply_updates = yes") != std::string::npos ||
         text.find("\napply_updates=yes") != std::string::npos;
}

}  // namespace

void check_automatic_updates(Exam& exam) {
  if (dnf_applies_updates(exam)) {
    const std::string text = exam.read("/etc/dnf/dnf.conf").value_or("");
    if (text.find("nvidia") == std::string::npos) {
      exam.found_at({"/etc/dnf/automatic.conf", 0, 0},
                    "dnf-automatic applies updates, and nothing excludes nvidia",
                    {"apply_updates = yes", "/etc/dnf/dnf.conf: no excludepkgs with nvidia"});
    }
  }
  const auto on = unattended_upgrades_on(exam);
  if (!on && !exam.exists("/etc/apt") && !exam.exists("/etc/dnf")) {
    exam.not_looked("neither /etc/apt nor /etc/dnf is there: what updates this node is unknown");
    return;
  }
  if (!on) {
    exam.fine("no automatic updates are set up");
    return;
  }
  const Packages packages = read_packages(exam);
  if (!packages.known) return;
  if (packages.find("unattended-upgrades") == nullptr) {
    exam.fine("unattended-upgrades is asked for and not installed");
    return;
  }
  const auto drivers = driver_packages(packages);
  if (drivers.empty()) {
    exam.not_here("no package of NVIDIA's driver is installed");
    return;
  }
  const bool held = std::ranges::all_of(drivers, &Package::on_hold);
  if (!held && !blacklist_has_nvidia(exam)) {
    exam.found_at(*on,
                  "unattended-upgrades is on, and the driver's packages are neither held nor on "
                  "its blacklist",
                  {line_of(drivers.front())});
  }
  exam.fine(held ? "on, and the driver's packages are held" : "on, and its blacklist names nvidia");
}

}  // namespace stoker::doctor
