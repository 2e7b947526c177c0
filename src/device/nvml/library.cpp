#include "device/nvml/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace stoker::nvml {
namespace {

constexpr std::string_view file_name = "libnvidia-ml.so.1";

// The loader's own path comes first; then places outside of it where drivers are put.
constexpr auto folders = std::to_array<std::string_view>({
    "/usr/lib/x86_64-linux-gnu",                 // Debian, Ubuntu
    "/usr/lib/aarch64-linux-gnu",                // the same on Grace
    "/usr/lib64",                                // RHEL, SUSE
    "/usr/lib/x86_64-linux-gnu/nvidia/current",  // Debian's own packages (update-glx)
    "/usr/lib/wsl/lib",                          // WSL2: docs.nvidia.com/cuda/wsl-user-guide
    "/run/opengl-driver/lib",                    // NixOS
    // GPU Operator's driver container: NVIDIA/gpu-operator, hostPaths.driverInstallDir
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
    "/run/nvidia/driver/usr/lib64",
    // GKE: GoogleCloudPlatform/container-engine-accelerators, nvidia-driver-installer
    "/home/kubernetes/bin/nvidia/lib64",
    "/usr/local/nvidia/lib64",
});

DriverFailure library_missing(const std::string& where) {
  return {
      device::SourceState::library_missing,
      fmt::format("NVIDIA's {} was not found {}. Install the NVIDIA driver; in a container, run "
                  "it with NVIDIA's runtime or mount the driver's libraries; or say where the "
                  "library lies",
                  file_name, where)};
}

DriverFailure library_unusable(const std::string& path, const std::string& why) {
  return {
      device::SourceState::failed,
      fmt::format("{} can't be used: {}. Is it of another machine type, or damaged?", path, why)};
}

// A candidate by its full path that is not there is no failure, only the next one's turn.
bool worth_trying(const std::string& candidate) {
  std::error_code ignored;
  return candidate.find('/') == std::string::npos || std::filesystem::exists(candidate, ignored);
}

tl::expected<Library, DriverFailure> open_at(const std::string& path) {
  // Never closed: a thread may be stuck inside, and its code must stay mapped.
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return tl::unexpected(library_unusable(path, why == nullptr ? "no reason told" : why));
  }
  return resolve_library([handle](const char* symbol) { return ::dlsym(handle, symbol); }, path);
}

}  // namespace

std::vector<std::string> library_candidates() {
  std::vector<std::string> candidates{std::string(file_name)};
  for (const std::string_view folder : folders) {
    candidates.push_back(fmt::format("{}/{}", folder, file_name));
  }
  return candidates;
}

tl::expected<Library, DriverFailure> load_library(const std::string& path) {
  if (!path.empty()) {
    if (worth_trying(path)) return open_at(path);
    return tl::unexpected(library_missing("at " + path));
  }
  std::optional<DriverFailure> first_failure;
  for (const std::string& candidate : library_candidates()) {
    if (!worth_trying(candidate)) continue;
    auto library = open_at(candidate);
    if (library.has_value()) return library;
    const bool by_loader = candidate.find('/') == std::string::npos;
    if (!by_loader && !first_failure.has_value()) first_failure = library.error();
  }
  return tl::unexpected(first_failure.value_or(library_missing(
      "on the loader's path, nor where distributions and driver containers put it")));
}

tl::expected<Library, DriverFailure> resolve_library(const Resolver& resolve, std::string path) {
  Library library;
  library.path = std::move(path);
  for (const abi::FunctionRow& row : abi::function_rows()) {
    if (row.need != abi::Need::required && row.need != abi::Need::reading) continue;
    void* const address = resolve(row.symbol.data());
    if (address == nullptr && row.need == abi::Need::required) {
      return tl::unexpected(library_unusable(
          library.path, fmt::format("it has no {}, so it is not NVML", row.symbol)));
    }
    // Functions is one pointer a row, so a row's offset is where its pointer goes.
    std::memcpy(reinterpret_cast<char*>(&library.functions) + row.offset, &address,
                sizeof(address));
  }
  library.simulated = resolve("stokerSimulatedDriver") != nullptr;
  return library;
}

}  // namespace stoker::nvml
