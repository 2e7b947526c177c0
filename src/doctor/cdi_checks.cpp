// Analyzer stage: CDI specifications name files of this node; an upgrade of the driver or a change of MIG leaves them
// behind.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/yaml/view.h"
#include "doctor/checks.h"
#include "doctor/driver.h"

namespace stoker::doctor {
namespace {

// What one specification names: host paths of mounts and device files.
struct CdiPaths {
  std::set<std::string> mounts;
  std::set<std::string> devices;
};

void take_edits(const yaml::View& edits, CdiPaths& paths) {
  edits.find("mounts").each_item(
      [&](yaml::View mount) { paths.mounts.emplace(mount.find("hostPath").text()); });
  edits.find("deviceNodes").each_item([&](yaml::View device) {
    const auto host = device.find("hostPath").text();
    paths.devices.emplace(host.empty() ? device.find("path").text() : host);
  });
}

// "580.159.04" of ".../libcuda.so.580.159.04".
std::string version_in(const std::string& path) {
  const auto at = path.rfind(".so.");
  if (at == std::string::npos) return "";
  const auto version = path.substr(at + 4);
  const bool is_full = std::ranges::count(version, '.') >= 1 &&
                       version.find_first_not_of("0123456789.") == std::string::npos;
  return is_full && version.size() > 6 ? version : "";
}

void judge_spec(Exam& exam, const std::string& file, const CdiPaths& paths,
                const std::optional<std::string>& driver) {
  std::vector<std::string> missing;
  std::set<std::string> versions;
  for (const auto* set : {&paths.devices, &paths.mounts}) {
    for (const auto& path : *set) {
      if (path.starts_with('/') && !exam.exists(path)) missing.push_back(path);
    }
  }
  for (const auto& path : paths.mounts) {
    if (path.find("libcuda.so.") != std::string::npos ||
        path.find("libnvidia-ml.so.") != std::string::npos) {
      if (const auto version = version_in(path); !version.empty()) versions.insert(version);
    }
  }
  constexpr std::size_t shown = 3;
  if (driver && !versions.empty() && !versions.contains(*driver)) {
    exam.found_at({file, 0, 0},
                  fmt::format("it is of driver {}, and {} is loaded", *versions.begin(), *driver),
                  {"libraries of " + *versions.begin(), "module in the kernel: " + *driver});
  } else if (!missing.empty()) {
    const auto count = missing.size();
    if (count > shown) missing.resize(shown);
    exam.found_at(
        {file, 0, 0},
        fmt::format("{} of the files that it names {} missing", count, count == 1 ? "is" : "are"),
        std::move(missing));
  }
}

}  // namespace

void check_cdi_stale(Exam& exam) {
  const auto driver = loaded_driver(exam);
  std::size_t specs = 0;
  for (const auto* folder : {"/etc/cdi", "/var/run/cdi"}) {
    for (const auto& name : exam.list(folder)) {
      if (!name.ends_with(".yaml") && !name.ends_with(".json")) continue;
      const std::string file = std::string(folder) + "/" + name;
      constexpr std::size_t largest_spec = yaml::largest_document;
      const auto text = exam.read(file, largest_spec);
      if (!text) continue;
      const auto document = yaml::Document::parse({.text = *text, .first_line = 1}, file);
      if (!document) {
        exam.found_at({file, 0, 0},
                      "it is neither YAML nor JSON: every engine that reads it complains",
                      {document.error().message()});
        continue;
      }
      const auto root = document->root();
      if (root.find("kind").text().find("nvidia.com/") == std::string_view::npos) continue;
      ++specs;
      CdiPaths paths;
      take_edits(root.find("containerEdits"), paths);
      root.find("devices").each_item(
          [&](yaml::View device) { take_edits(device.find("containerEdits"), paths); });
      judge_spec(exam, file, paths, driver);
    }
  }
  if (specs == 0) {
    exam.not_here("no CDI specification of NVIDIA's is in /etc/cdi or /var/run/cdi");
    return;
  }
  exam.fine(fmt::format("{} specification{}, {}, and all files that they name are there", specs,
                        specs == 1 ? "" : "s",
                        driver ? "driver " + *driver : "no driver to compare with"));
}

}  // namespace stoker::doctor
