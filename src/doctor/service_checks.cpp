// Analyzer stage: the driver's companions: fabric manager, IMEX, persistence daemon.
#include <fmt/format.h>

#include <algorithm>
#include <array>

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

enum class Unit : std::uint8_t { enabled, not_enabled, masked };

// Does a unit start at boot, whoever's it is: `word` is part of its name. Masked is a link to /dev/null in place of
// `unit` (systemctl(1)).
Unit unit_state(Exam& exam, const std::string& unit, std::string_view word) {
  if (exam.link("/etc/systemd/system/" + unit).value_or("") == "/dev/null") return Unit::masked;
  for (const std::string top : {"/etc/systemd/system", "/usr/lib/systemd/system"}) {
    for (const auto& folder : exam.list(top)) {
      if (!folder.ends_with(".wants") && !folder.ends_with(".requires")) continue;
      const auto names = exam.list(fmt::format("{}/{}", top, folder));
      const bool wanted = std::ranges::any_of(
          names, [&](const std::string& name) { return name.find(word) != std::string::npos; });
      if (wanted) return Unit::enabled;
    }
  }
  return Unit::not_enabled;
}

// The driver that a companion has to fit: before a restart the one that comes with it, which is the libraries'.
std::string driver_to_fit(Exam& exam) {
  if (exam.context().gate == Gate::before) {
    const auto libraries = driver_libraries(exam, "libnvidia-ml");
    if (libraries.size() == 1) return libraries.front().version;
  }
  return loaded_driver(exam).value_or("");
}

void compare_with_driver(Exam& exam, const Package& package, std::string_view what) {
  const auto version = upstream_version(package.version);
  const std::string driver = driver_to_fit(exam);
  if (driver.empty() || version == driver) return;
  exam.found(fmt::format("{} is {} and the driver is {}", what, version, driver),
             {fmt::format("{} {}", package.name, package.version), "the driver: " + driver});
}

// Where the NVSwitches of a board are no PCI devices of the node, its product tells whether there are any: HGX B200 and
// B300 (fabric manager user guide, "Systems Using Fourth Generation NVSwitches" and "Supported Platforms"). On a GB200 the switches' own trays run the fabric manager.
enum class Fabric : std::uint8_t { has_switches, has_none, unknown };
Fabric fabric_by_product(const std::vector<DrivenGpu>& gpus) {
  constexpr auto hidden = std::to_array<std::string_view>({" B200", " B300"});
  // Boards of one card, which NVSwitches are not sold with.
  constexpr auto alone = std::to_array<std::string_view>(
      {"PCIe", " NVL", " L4", " L40", " T4", " A2", " A10", " A16", " A30", " A40", "RTX"});
  const auto has = [](const DrivenGpu& gpu, auto names) {
    return std::ranges::any_of(
        names, [&](auto name) { return gpu.model.find(name) != std::string::npos; });
  };
  if (std::ranges::any_of(gpus, [&](const DrivenGpu& gpu) { return has(gpu, hidden); }))
    return Fabric::has_switches;
  const bool none = std::ranges::all_of(gpus, [&](const DrivenGpu& gpu) {
    return has(gpu, alone) && gpu.model.find(" A100-") == std::string::npos;
  });
  return !gpus.empty() && none ? Fabric::has_none : Fabric::unknown;
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

namespace {

void judge_manager(Exam& exam, const std::string& needs, bool is_installed) {
  if (exam.list("/proc").empty()) {
    exam.not_looked("/proc: no process is listed, so whether the fabric manager runs is unknown");
    return;
  }
  constexpr const char* unit = "nvidia-fabricmanager.service";
  const Unit state = unit_state(exam, unit, "fabricmanager");
  const std::string link =
      state == Unit::masked
          ? fmt::format("/etc/systemd/system/{}: masked, a link to /dev/null", unit)
          : fmt::format("/etc/systemd/system: no target wants {}", unit);
  if (!is_running(exam, "nv-fabricmanager")) {
    std::vector<std::string> evidence = {needs, "/proc: no process nv-fabricmanager"};
    if (state != Unit::enabled) evidence.push_back(link);
    exam.found("the fabric manager does not run", std::move(evidence));
  } else if (state != Unit::enabled && is_installed) {
    Finding& finding =
        exam.found("the fabric manager runs, and won't be started at the next boot", {link});
    // It has come up this time, which is what is asked after a restart.
    if (exam.context().gate == Gate::after) finding.severity = Severity::warning;
  }
}

}  // namespace

void check_fabric_manager(Exam& exam) {
  const auto switches = nvidia_switches(exam);
  const auto driver = loaded_driver(exam);
  const Packages packages = read_packages(exam);
  const Package* package = package_starting(packages, "nvidia-fabricmanager");
  const bool has_unit = exam.exists("/usr/lib/systemd/system/nvidia-fabricmanager.service") ||
                        exam.exists("/lib/systemd/system/nvidia-fabricmanager.service");
  const bool is_installed = package != nullptr || has_unit;
  const bool running = is_running(exam, "nv-fabricmanager");
  const auto fabric =
      switches.empty() ? fabric_by_product(driven_gpus(exam)) : Fabric::has_switches;
  const std::string count = switches.empty() && fabric == Fabric::has_switches
                                ? "a board with NVSwitches, by the product of its GPUs"
                                : fmt::format("{} NVSwitches on the PCI bus", switches.size());
  if (switches.empty() && !is_installed && !running) {
    if (fabric == Fabric::has_switches) {
      exam.not_looked(count + ", and no fabric manager is installed where it is looked for");
    }
    exam.not_here("no NVSwitch is on the PCI bus, and no fabric manager is installed");
    return;
  }
  if (!switches.empty() && !is_installed && packages.known && !running) {
    exam.found("there are NVSwitches, and no fabric manager is installed", {count});
    return;
  }
  if (fabric == Fabric::has_switches) {
    judge_manager(exam, count, is_installed);
  } else if (!running && fabric == Fabric::has_none) {
    exam.not_here("GPUs that no NVSwitch is sold with; the fabric manager has nothing to do");
    return;
  } else if (!running) {
    exam.not_looked(
        "a fabric manager is installed and does not run, and whether the board has "
        "NVSwitches is not seen on the PCI bus");
  }
  if (package != nullptr && driver) compare_with_driver(exam, *package, "the fabric manager");
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
  if (loaded_driver(exam)) compare_with_driver(exam, *package, "IMEX");
  if (!is_running(exam, "nvidia-imex")) {
    const auto gpus = driven_gpus(exam);
    const bool spans = std::ranges::any_of(gpus, [](const DrivenGpu& gpu) {
      return gpu.model.find("GB200") != std::string::npos ||
             gpu.model.find("GB300") != std::string::npos;
    });
    if (spans) {
      exam.found("IMEX is installed and does not run",
                 {"/proc: no process nvidia-imex", "GPUs: " + gpus.front().model});
    } else {
      exam.not_looked(
          "nvidia-imex is installed and does not run, and whether the NVLinks of this "
          "node lead to others is not seen");
    }
    return;
  }
  const auto nodes = exam.read("/etc/nvidia-imex/nodes_config.cfg");
  if (!nodes || nodes->find_first_not_of(" \n\t") == std::string::npos) {
    exam.found("IMEX runs and knows no nodes",
               {"/etc/nvidia-imex/nodes_config.cfg: empty or missing"});
  }
  exam.fine(fmt::format("nvidia-imex {} runs", package->version));
}

}  // namespace stoker::doctor
