// Analyzer stage: DKMS keeps what it did in folders, and this is what its own `dkms status` reads: VERSION/source is
// what was added, VERSION/KERNEL/ARCH what was built, the link kernel-KERNEL-ARCH what is installed. A build that fails
// leaves VERSION/build with its make.log, one that succeeds takes it away (dkms(8), Debian's dkms 3.0.10).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "doctor/kernels.h"

namespace stoker::doctor {
namespace {

// "DKMS make.log for nvidia-580.159.04 for kernel 6.8.0-60-generic (x86_64)"
std::string kernel_of_log(std::string_view log) {
  constexpr std::string_view before = " for kernel ";
  const auto head = log.substr(0, log.find('\n'));
  const auto at = head.rfind(before);
  if (head.find("make.log for") == std::string_view::npos || at == std::string_view::npos)
    return "";
  const auto rest = head.substr(at + before.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

// The first lines that a compiler, make or NVIDIA's conftest wrote of an error.
std::vector<std::string> errors_of(std::string_view log) {
  constexpr auto signs = std::to_array<std::string_view>(
      {"error:", "Error!", "*** ", "ERROR:", "No such file", "No space left", "not found"});
  constexpr std::size_t most = 3;
  std::vector<std::string> lines;
  while (!log.empty() && lines.size() < most) {
    const auto line = log.substr(0, log.find('\n'));
    if (std::ranges::any_of(signs,
                            [&](auto sign) { return line.find(sign) != std::string_view::npos; })) {
      lines.emplace_back(line.substr(0, 200));
    }
    log.remove_prefix(std::min(line.size() + 1, log.size()));
  }
  return lines;
}

void read_version(Exam& exam, const std::string& module, const std::string& version, Dkms& dkms) {
  const std::string folder = module + "/" + version;
  constexpr std::size_t largest_log = 32 << 20;
  for (const auto& kernel : exam.list(folder)) {
    if (kernel == "build") {
      const std::string path = folder + "/build/make.log";
      const auto log = exam.read(path, largest_log);
      if (!log) continue;
      dkms.failures.push_back({version, kernel_of_log(*log), path, errors_of(*log)});
      continue;
    }
    if (kernel == "source") continue;
    for (const auto& arch : exam.list(fmt::format("{}/{}", folder, kernel))) {
      const auto link = exam.link(fmt::format("{}/kernel-{}-{}", module, kernel, arch));
      const bool installed = link && link->substr(0, link->find('/')) == version;
      dkms.built.push_back({version, kernel, installed});
    }
  }
}

}  // namespace

Dkms read_dkms(Exam& exam) {
  Dkms dkms;
  const std::string top = "/var/lib/dkms";
  for (const auto& module : exam.list(top)) {
    // nvidia-fs is GPUDirect Storage's, nvidia-peermem and -peer-memory RDMA's.
    if (!module.starts_with("nvidia") || module.starts_with("nvidia-fs") ||
        module.find("peer") != std::string::npos) {
      continue;
    }
    const std::string folder = fmt::format("{}/{}", top, module);
    const auto names = exam.list(folder);
    if (names.empty()) continue;
    dkms.folders.push_back(folder);
    for (const auto& name : names) {
      if (name.starts_with("kernel-") || name == "original_module") continue;
      dkms.versions.push_back(name);
      read_version(exam, folder, name, dkms);
    }
  }
  return dkms;
}

}  // namespace stoker::doctor
