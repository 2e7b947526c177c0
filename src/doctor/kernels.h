// Analyzer stage: which kernel runs, which will after a restart, and which of them has NVIDIA's module.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/exam.h"

namespace stoker::doctor {

// Orders versions as dpkg does (deb-version(7)): digits by their number, letters before other signs, '~' before
// everything.
std::strong_ordering compare_versions(std::string_view one, std::string_view other);

struct Kernels {
  std::string running;                 // empty: not known
  std::vector<std::string> installed;  // with an image to boot, oldest first
  std::string next;                    // empty: not known
  std::string next_because;            // how `next` is known: "the newest that is installed", ...
};

// From /proc/sys/kernel/osrelease, /boot, and GRUB's choice in /etc/default/grub and grubenv.
Kernels read_kernels(Exam& exam);

// The file that modprobe would load for a kernel, as /lib/modules/K/modules.dep names it below that folder.
std::optional<std::string> module_file(Exam& exam, const std::string& kernel);

// What DKMS has in /var/lib/dkms/nvidia (or nvidia-current, as Debian calls it).
struct Dkms {
  std::string folder;                 // "/var/lib/dkms/nvidia"; empty: DKMS knows no such module
  std::vector<std::string> versions;  // that are added
  // For which kernel a build failed, and the last of what its log says that looks like an error.
  struct Failure {
    std::string version;
    std::string kernel;
    std::string log;  // the path of make.log
    std::vector<std::string> lines;
  };
  std::vector<Failure> failures;

  struct Built {
    std::string version;
    std::string kernel;
    bool installed = false;
  };
  std::vector<Built> built;
};
Dkms read_dkms(Exam& exam);

}  // namespace stoker::doctor
