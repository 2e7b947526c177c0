// Analyzer stage: which packages a node has, as dpkg's status file tells. rpm keeps a database that only rpm reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/exam.h"

namespace stoker::doctor {

struct Package {
  std::string name;
  std::string version;  // "580.159.04-0ubuntu1"
  std::string state;    // dpkg's third word: "installed", "half-configured", "unpacked", ...
  bool on_hold = false;
};

struct Packages {
  bool known = false;  // false: there is no dpkg here, or its file could not be read
  std::vector<Package> all;

  [[nodiscard]] const Package* find(std::string_view name) const;
};

// Of /var/lib/dpkg/status; packages that are removed are left out. Where there is an rpm database instead, the Exam is
// told that nobody looked.
Packages read_packages(Exam& exam);

// The parser, for tests.
std::vector<Package> parse_dpkg_status(std::string_view text);

// "580.159.04" of "1:580.159.04-0ubuntu1~22.04"; what stands before the first '-' without an epoch.
std::string_view upstream_version(std::string_view version);

// Is it part of NVIDIA's driver: module, libraries, tools, fabric manager, IMEX; by its name, whoever packed it?
bool is_driver_package(std::string_view name);
// "565" of "nvidia-driver-565-server"; empty where the name has none.
std::string_view branch_in_name(std::string_view name);

}  // namespace stoker::doctor
