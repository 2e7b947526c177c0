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
  std::string next_because;            // how `next` is known, or why it is not
};

// From /proc/sys/kernel/osrelease, /boot, and the boot loader's choice.
Kernels read_kernels(Exam& exam);

// Fills `next` and `next_because` by what the boot loader is told; `installed` is known.
void choose_next_kernel(Exam& exam, Kernels& kernels);

// The files that modprobe would load for a kernel, as its modules.dep names them; empty: there is none.
struct ModuleFiles {
  std::string nvidia;  // "updates/dkms/nvidia.ko.zst"
  std::string uvm;
};
// nullopt: the list is not there, can't be read or is none, which the Exam is told.
std::optional<ModuleFiles> module_files(Exam& exam, const std::string& kernel);
// "/lib/modules/K/updates/dkms/nvidia.ko.zst".
std::string module_path(const std::string& kernel, const std::string& file);

// What DKMS has of NVIDIA's driver, by whatever name it was packed: nvidia, nvidia-open, nvidia-srv, nvidia-current.
struct Dkms {
  std::vector<std::string> folders;   // "/var/lib/dkms/nvidia"; empty: DKMS knows no such module
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
