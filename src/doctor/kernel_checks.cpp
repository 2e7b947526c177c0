// Analyzer stage: whether the module will be there after a restart.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks.h"
#include "doctor/driver.h"
#include "doctor/kernels.h"

namespace stoker::doctor {

void check_dkms_build(Exam& exam) {
  const Dkms dkms = read_dkms(exam);
  if (dkms.folder.empty()) {
    exam.not_here("DKMS builds no module of NVIDIA's here");
    return;
  }
  const std::string next = dkms.failures.empty() ? "" : read_kernels(exam).next;
  for (const auto& failure : dkms.failures) {
    // Built again since by hand, elsewhere: DKMS clears its build folder when a build succeeds.
    std::vector<std::string> evidence = {failure.log};
    evidence.insert(evidence.end(), failure.lines.begin(), failure.lines.end());
    if (failure.kernel.empty()) evidence.emplace_back("the log does not name its kernel");
    Finding& finding =
        exam.found(fmt::format("DKMS failed to build nvidia {}{}", failure.version,
                               failure.kernel.empty() ? "" : " for kernel " + failure.kernel),
                   std::move(evidence));
    // A kernel that does not start next takes no GPU away today.
    if (!failure.kernel.empty() && !next.empty() && failure.kernel != next)
      finding.severity = Severity::warning;
  }
  if (dkms.failures.empty() && dkms.built.empty()) {
    exam.found("DKMS knows the module and has built it for no kernel",
               {dkms.folder + ": only " + (dkms.versions.empty() ? "" : dkms.versions.front()) +
                ", state 'added'"});
  }
  std::string kernels;
  for (const auto& built : dkms.built) {
    if (built.installed) kernels += " " + built.kernel;
  }
  exam.fine(fmt::format("nvidia is installed for{}", kernels.empty() ? " no kernel" : kernels));
}

void check_next_kernel(Exam& exam) {
  const bool has_gpu = !nvidia_gpus(exam).empty() || loaded_driver(exam).has_value();
  if (!has_gpu && !exam.has_unread()) {
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
    return;
  }
  if (has_driver_container(exam)) {
    exam.not_here(
        "a driver container builds the module as it starts, for the kernel that it finds");
    return;
  }
  const Kernels kernels = read_kernels(exam);
  if (kernels.next.empty()) {
    exam.not_looked(kernels.installed.empty()
                        ? "/boot: no vmlinuz-VERSION, so the next kernel is unknown"
                        : kernels.next_because);
    return;
  }
  const std::string folder = "/lib/modules/" + kernels.next;
  if (!exam.exists(folder + "/modules.dep")) {
    if (!exam.has_unread()) {
      exam.not_looked(folder + "/modules.dep: missing, so the kernel's modules are unknown");
    }
    return;
  }
  const auto module = module_file(exam, kernels.next);
  if (!module) {
    std::vector<std::string> evidence = {
        fmt::format("next start: {} ({}); running: {}", kernels.next, kernels.next_because,
                    kernels.running.empty() ? "unknown" : kernels.running),
        folder + "/modules.dep: no nvidia.ko"};
    if (!exam.exists(folder + "/build")) {
      evidence.push_back(folder + "/build: missing, the kernel's headers are not installed");
    }
    exam.found(fmt::format("kernel {} starts next and has no module of NVIDIA's", kernels.next),
               std::move(evidence));
    return;
  }
  exam.fine(fmt::format("{} ({}) has {}", kernels.next, kernels.next_because, *module));
}

namespace {

// efivarfs: four bytes of attributes before the value (docs.kernel.org/filesystems/efivarfs.html).
std::optional<bool> secure_boot(Exam& exam) {
  constexpr std::size_t attributes = 4;
  for (const auto& name : exam.list("/sys/firmware/efi/efivars")) {
    if (!name.starts_with("SecureBoot-")) continue;
    const auto value = exam.read("/sys/firmware/efi/efivars/" + name);
    if (value && value->size() > attributes) return (*value)[attributes] == 1;
  }
  return std::nullopt;
}

// The certificate that DKMS signs with, where it keeps it, and whether the firmware's list has it.
struct SigningKey {
  std::string path;
  bool enrolled = false;
};
std::optional<SigningKey> signing_key(Exam& exam) {
  std::string enrolled;
  for (const auto& name : exam.list("/sys/firmware/efi/efivars")) {
    if (name.starts_with("MokListRT") || name.starts_with("db-")) {
      enrolled += exam.read("/sys/firmware/efi/efivars/" + name).value_or("");
    }
  }
  for (const auto* path : {"/var/lib/shim-signed/mok/MOK.der", "/var/lib/dkms/mok.pub"}) {
    const auto key = exam.read(path);
    if (!key || key->empty()) continue;
    return SigningKey{path, enrolled.find(*key) != std::string::npos};
  }
  return std::nullopt;
}

}  // namespace

void check_module_signature(Exam& exam) {
  if (!exam.exists("/sys/firmware/efi")) {
    if (!exam.exists("/sys/firmware") && !exam.has_unread()) {
      exam.not_looked("/sys/firmware: missing, so how the machine started is unknown");
    }
    exam.not_here("the machine did not start by UEFI, so there is no secure boot");
    return;
  }
  const auto secure = secure_boot(exam);
  if (!secure) {
    exam.not_looked(
        "/sys/firmware/efi/efivars: no SecureBoot variable can be read (is efivarfs mounted?)");
    return;
  }
  if (!*secure) {
    exam.not_here("secure boot is off");
    return;
  }
  const Kernels kernels = read_kernels(exam);
  const std::string kernel = kernels.next.empty() ? kernels.running : kernels.next;
  const auto module = module_file(exam, kernel);
  if (!module) {
    exam.not_here(fmt::format("kernel {} has no module of NVIDIA's", kernel));
    return;
  }
  const std::string path = "/lib/modules/" + kernel + "/" + *module;
  if (kernel == kernels.running && loaded_driver(exam)) {
    exam.fine("secure boot is on, and the kernel took the module");
    return;
  }
  // A signed module ends in this line: include/linux/module_signature.h.
  constexpr std::string_view mark = "~Module signature appended~\n";
  if (!module->ends_with(".ko")) {
    exam.not_looked(path +
                    ": compressed, so its signature is not seen; see `modinfo -F signer nvidia`");
  } else if (const auto end = exam.tail(path, mark.size()); end && *end != mark) {
    exam.found(fmt::format("secure boot is on and {} is not signed", path), {path});
    return;
  }
  const bool by_dkms = module->find("updates/dkms") != std::string::npos;
  const auto key = signing_key(exam);
  if (by_dkms && !key) {
    exam.not_looked("the certificate that DKMS signs with is not where it is looked for");
  } else if (by_dkms && !key->enrolled) {
    exam.found("secure boot is on and the key that DKMS signs with is not enrolled",
               {key->path + ": not in MokListRT or db of the firmware", path});
  }
  // Ubuntu's linux-modules-nvidia-*, which Canonical signs.
  const bool prebuilt = module->starts_with("kernel/nvidia-");
  if (!by_dkms && !prebuilt) {
    exam.not_looked(path +
                    ": signed, and with whose key is not seen; see `modinfo -F signer nvidia`");
  }
  exam.fine(by_dkms ? "signed, and the key is enrolled" : "signed by the distribution");
}

}  // namespace stoker::doctor
