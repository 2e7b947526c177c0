// Analyzer stage: whether the module will be there after a restart.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks.h"
#include "doctor/driver.h"
#include "doctor/kernels.h"
#include "doctor/packages.h"

namespace stoker::doctor {

namespace {

// A failed build takes no GPU away from a kernel that has the module all the same, nor from one that does not start next.
bool is_harmless(const Dkms& dkms, const Dkms::Failure& failure, const std::string& next) {
  const std::string& kernel = failure.kernel.empty() ? next : failure.kernel;
  if (kernel.empty()) return false;
  if (!next.empty() && kernel != next) return true;
  return std::ranges::any_of(dkms.built, [&](const Dkms::Built& built) {
    return built.installed && built.kernel == kernel;
  });
}

}  // namespace

void check_dkms_build(Exam& exam) {
  const Dkms dkms = read_dkms(exam);
  if (dkms.folders.empty()) {
    exam.not_here("DKMS builds no module of NVIDIA's here");
    return;
  }
  const std::string next = read_kernels(exam).next;
  for (const auto& failure : dkms.failures) {
    // Built again since by hand, elsewhere: DKMS clears its build folder when a build succeeds.
    std::vector<std::string> evidence = {failure.log};
    evidence.insert(evidence.end(), failure.lines.begin(), failure.lines.end());
    if (failure.kernel.empty()) evidence.emplace_back("the log does not name its kernel");
    Finding& finding =
        exam.found(fmt::format("DKMS failed to build nvidia {}{}", failure.version,
                               failure.kernel.empty() ? "" : " for kernel " + failure.kernel),
                   std::move(evidence));
    if (is_harmless(dkms, failure, next)) finding.severity = Severity::warning;
  }
  if (dkms.failures.empty() && dkms.built.empty()) {
    exam.found("DKMS knows the module and has built it for no kernel",
               {dkms.folders.front() + ": only " +
                (dkms.versions.empty() ? "" : dkms.versions.front()) + ", state 'added'"});
  }
  std::string kernels;
  for (const auto& built : dkms.built) {
    if (built.installed) kernels += " " + built.kernel;
  }
  exam.fine(fmt::format("nvidia is installed for{}", kernels.empty() ? " no kernel" : kernels));
}

namespace {

std::vector<std::string> evidence_of(const Kernels& kernels, std::string more) {
  return {fmt::format("next start: {} ({}); running: {}", kernels.next, kernels.next_because,
                      kernels.running.empty() ? "unknown" : kernels.running),
          std::move(more)};
}

// Is the kernel there whole: its package, its initial ramdisk?
void judge_image(Exam& exam, const Kernels& kernels) {
  const auto boot = exam.list("/boot");
  const auto has_ramdisk = [&](const std::string& kernel) {
    return std::ranges::any_of(boot, [&](const std::string& name) {
      return name == "initrd.img-" + kernel || name == "initramfs-" + kernel + ".img" ||
             name == "initrd-" + kernel;
    });
  };
  if (!has_ramdisk(kernels.next)) {
    if (std::ranges::any_of(kernels.installed, has_ramdisk)) {
      exam.found(fmt::format("kernel {} starts next and has no initial ramdisk", kernels.next),
                 evidence_of(kernels, "/boot: no initrd.img-" + kernels.next));
    } else {
      exam.not_looked("/boot: no initial ramdisk of any kernel, so whether " + kernels.next +
                      " can start is unknown");
    }
  }
  if (!exam.exists("/var/lib/dpkg/status")) return;
  const Packages packages = read_packages(exam);
  const Package* image = packages.find("linux-image-" + kernels.next);
  if (image != nullptr && image->state != "installed") {
    exam.found(
        fmt::format("kernel {} starts next and its package is {}", kernels.next, image->state),
        evidence_of(kernels, image->name + " " + image->version));
  }
}

// "580.159.04" by DKMS, "580" where Ubuntu built it (kernel/nvidia-580srv-open/nvidia.ko), empty: not seen.
std::string version_of_module(Exam& exam, const std::string& kernel, const std::string& file) {
  const Dkms dkms = read_dkms(exam);
  const auto built = std::ranges::find_if(
      dkms.built, [&](const Dkms::Built& each) { return each.installed && each.kernel == kernel; });
  const bool prebuilt = file.starts_with("kernel/nvidia-");
  if (!prebuilt) return built == dkms.built.end() ? "" : built->version;
  const auto branch = file.substr(std::string_view("kernel/nvidia-").size());
  return branch.substr(0, branch.find_first_not_of("0123456789"));
}

// Will the module of the next start fit the libraries that are installed?
void judge_version(Exam& exam, const Kernels& kernels, const std::string& file) {
  std::vector<DriverLibrary> libraries = driver_libraries(exam, "libnvidia-ml");
  if (libraries.empty()) {
    exam.not_looked(
        "no libnvidia-ml.so.VERSION lies where it is looked for, so whether the module "
        "of the next start fits it is unknown");
    return;
  }
  const auto fits = [&](const std::string& version) {
    return std::ranges::any_of(libraries, [&](const DriverLibrary& library) {
      return library.version == version || library.version.starts_with(version + ".");
    });
  };
  const std::string version = version_of_module(exam, kernels.next, file);
  if (version.empty()) {
    const auto loaded = loaded_driver(exam);
    if (kernels.next == kernels.running && loaded && fits(*loaded)) return;
    exam.not_looked(module_path(kernels.next, file) +
                    ": its version is not seen; see `modinfo -F version nvidia`");
  } else if (!fits(version)) {
    exam.found(fmt::format("the module of the next start is {}, its libraries are {}", version,
                           libraries.front().version),
               evidence_of(kernels, libraries.front().path));
  }
}

// The modules that CUDA needs, in the list and on the disk. False: there is nothing more to say.
bool judge_modules(Exam& exam, const Kernels& kernels, const ModuleFiles& files) {
  const std::string folder = "/lib/modules/" + kernels.next;
  if (files.nvidia.empty()) {
    auto evidence = evidence_of(kernels, folder + "/modules.dep: no nvidia.ko");
    if (!exam.exists(folder + "/build")) {
      evidence.push_back(folder + "/build: missing, the kernel's headers are not installed");
    }
    exam.found(fmt::format("kernel {} starts next and has no module of NVIDIA's", kernels.next),
               std::move(evidence));
    return false;
  }
  if (files.uvm.empty()) {
    exam.found(
        fmt::format("kernel {} starts next and has no nvidia-uvm, which CUDA can't do without",
                    kernels.next),
        evidence_of(kernels, folder + "/modules.dep: no nvidia-uvm.ko"));
  }
  for (const auto& file : {files.nvidia, files.uvm}) {
    const std::string path = module_path(kernels.next, file);
    if (file.empty() || exam.exists(path) || exam.has_unread()) continue;
    exam.found(
        fmt::format("kernel {} starts next and its module {} is not there", kernels.next, path),
        evidence_of(kernels, folder + "/modules.dep names it"));
  }
  return true;
}

}  // namespace

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
  judge_image(exam, kernels);
  const auto files = module_files(exam, kernels.next);
  if (!files || !judge_modules(exam, kernels, *files)) return;
  judge_version(exam, kernels, files->nvidia);
  exam.fine(fmt::format("{} ({}) has {}", kernels.next, kernels.next_because, files->nvidia));
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
  const auto files = module_files(exam, kernel);
  if (!files || files->nvidia.empty()) {
    exam.not_here(fmt::format("kernel {} has no module of NVIDIA's", kernel));
    return;
  }
  const std::string& module = files->nvidia;
  const std::string path = module_path(kernel, module);
  if (kernel == kernels.running && loaded_driver(exam)) {
    exam.fine("secure boot is on, and the kernel took the module");
    return;
  }
  // A signed module ends in this line: include/linux/module_signature.h.
  constexpr std::string_view mark = "~Module signature appended~\n";
  if (!module.ends_with(".ko")) {
    exam.not_looked(path +
                    ": compressed, so its signature is not seen; see `modinfo -F signer nvidia`");
  } else if (const auto end = exam.tail(path, mark.size()); end && *end != mark) {
    exam.found(fmt::format("secure boot is on and {} is not signed", path), {path});
    return;
  }
  const bool by_dkms = module.find("updates/dkms") != std::string::npos;
  const auto key = signing_key(exam);
  if (by_dkms && !key) {
    exam.not_looked("the certificate that DKMS signs with is not where it is looked for");
  } else if (by_dkms && !key->enrolled) {
    exam.found("secure boot is on and the key that DKMS signs with is not enrolled",
               {key->path + ": not in MokListRT or db of the firmware", path});
  }
  // Ubuntu's linux-modules-nvidia-*, which Canonical signs.
  const bool prebuilt = module.starts_with("kernel/nvidia-");
  if (!by_dkms && !prebuilt) {
    exam.not_looked(path +
                    ": signed, and with whose key is not seen; see `modinfo -F signer nvidia`");
  }
  exam.fine(by_dkms ? "signed, and the key is enrolled" : "signed by the distribution");
}

}  // namespace stoker::doctor
