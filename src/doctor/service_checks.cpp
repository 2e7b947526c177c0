// Analyzer stage: the driver's companions: fabric manager, IMEX, persistence daemon.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks.h"
#include "doctor/driver.h"
#include "doctor/packages.h"

namespace stoker::doctor {
namespace {

// The installed package whose name begins with one of two; of several the first.
const Package* package_starting(const Packages& packages, std::string_view start) {
  const auto found = std::ranges::find_if(
      packages.all, [&](const Package& package) { return package.name.starts_with(start); });
  return found == packages.all.end() ? nullptr : &*found;
}

// Is a unit wanted by a target, so that it starts at boot?
bool is_enabled(Exam& exam, std::string_view unit) {
  for (const auto& folder : exam.list("/etc/systemd/system")) {
    if (!folder.ends_with(".wants") && !folder.ends_with(".requires")) continue;
    const auto names = exam.list("/etc/systemd/system/" + folder);
    if (std::ranges::find(names, unit) != names.end()) return true;
  }
  return false;
}

void compare_with_driver(Exam& exam, const Package& package, const std::string& driver,
                         std::string_view what) {
  const auto version = upstream_version(package.version);
  if (version == driver) return;
  exam.found(
      fmt::format("{} is {} and the driver is {}", what, version, driver),
      {fmt::format("{} {}", package.name, package.version), "module in the kernel: " + driver});
}

}  // namespace

void check_persistence_daemon(Exam& exam) {
  if (!loaded_driver(exam)) {
    exam.not_here("no module of NVIDIA's is loaded");
    return;
  }
  const auto& cards = exam.context().cards;
  const auto told = [](const Context::Card& card) { return card.persistence == "enabled"; };
  if (!cards.empty() && std::ranges::all_of(cards, told)) {
    exam.fine("persistence mode is on for every GPU");
    return;
  }
  if (is_running(exam, "nvidia-persistenced")) {
    exam.fine("nvidia-persistenced runs");
    return;
  }
  if (exam.list("/proc").empty() && !exam.has_unread()) {
    exam.not_looked("/proc: no process is listed");
  }
  if (exam.has_unread()) return;
  std::vector<std::string> evidence = {"/proc: no process nvidia-persistenced"};
  const auto off = std::ranges::find(cards, "disabled", &Context::Card::persistence);
  if (off != cards.end()) evidence.push_back(off->name + ": persistence mode is disabled");
  // Whatever else keeps a GPU open does the same: a monitor, a display server, the driver container's own daemon.
  exam.found("no nvidia-persistenced runs", std::move(evidence));
}

void check_fabric_manager(Exam& exam) {
  const auto switches = nvidia_switches(exam);
  const auto driver = loaded_driver(exam);
  const Packages packages = read_packages(exam);
  const Package* package = package_starting(packages, "nvidia-fabricmanager");
  // NVSwitches that are no PCI devices of the node (HGX B200 and later) are known by the package alone.
  if (switches.empty() && package == nullptr) {
    exam.not_here("no NVSwitch is on the PCI bus, and no fabric manager is installed");
    return;
  }
  const bool running = is_running(exam, "nv-fabricmanager");
  const std::string count = fmt::format("{} NVSwitches on the PCI bus", switches.size());
  if (!switches.empty() && package == nullptr && packages.known && !running) {
    exam.found("there are NVSwitches, and no fabric manager is installed", {count});
    return;
  }
  if (!switches.empty() && !running && !exam.list("/proc").empty()) {
    std::vector<std::string> evidence = {count, "/proc: no process nv-fabricmanager"};
    if (!is_enabled(exam, "nvidia-fabricmanager.service")) {
      evidence.emplace_back(
          "nvidia-fabricmanager.service is not enabled: it won't start at boot either");
    }
    exam.found("the fabric manager does not run", std::move(evidence));
  } else if (!switches.empty() && !is_enabled(exam, "nvidia-fabricmanager.service") &&
             package != nullptr) {
    exam.found("the fabric manager runs, and won't be started at the next boot",
               {"/etc/systemd/system: no target wants nvidia-fabricmanager.service"})
        .severity = Severity::warning;
  }
  if (package != nullptr && driver)
    compare_with_driver(exam, *package, *driver, "the fabric manager");
  exam.fine(fmt::format("{}, fabric manager {}, {}", count,
                        package == nullptr ? "runs" : package->version,
                        driver ? "driver " + *driver : "no driver to compare it with"));
}

void check_imex(Exam& exam) {
  const Packages packages = read_packages(exam);
  const Package* package = package_starting(packages, "nvidia-imex");
  if (package == nullptr) {
    exam.not_here("nvidia-imex is not installed");
    return;
  }
  if (const auto driver = loaded_driver(exam)) compare_with_driver(exam, *package, *driver, "IMEX");
  const bool running = is_running(exam, "nvidia-imex");
  const auto nodes = exam.read("/etc/nvidia-imex/nodes_config.cfg");
  if (running && (!nodes || nodes->find_first_not_of(" \n\t") == std::string::npos)) {
    exam.found("IMEX runs and knows no nodes",
               {"/etc/nvidia-imex/nodes_config.cfg: empty or missing"});
  }
  exam.fine(fmt::format("nvidia-imex {}, {}", package->version, running ? "runs" : "does not run"));
}

}  // namespace stoker::doctor
