// Analyzer stage: CUDA toolkits and builds of torch against the driver that is loaded.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/yaml/yaml.h"
#include "doctor/checks.h"
#include "doctor/cuda.h"
#include "doctor/driver.h"
#include "doctor/kernels.h"
#include "doctor/toml.h"

namespace stoker::doctor {
namespace {

struct Toolkit {
  std::string file;
  CudaVersion version;
};

// version.json of each /usr/local/cuda-X.Y: {"cuda": {"name": "CUDA SDK", "version": "12.4.1"}, ...}
std::vector<Toolkit> cuda_toolkits(Exam& exam) {
  std::vector<Toolkit> found;
  for (const auto& name : exam.list("/usr/local")) {
    if (!name.starts_with("cuda-")) continue;
    const std::string file = "/usr/local/" + name + "/version.json";
    const auto text = exam.read(file);
    // Images that have the runtime alone have no such file: the folder's name says it.
    std::optional<CudaVersion> version = CudaVersion::parse(name.substr(5));
    if (text) {
      const auto root = yaml::parse(*text, file);
      if (!root) {
        exam.not_looked(root.error().message());
        continue;
      }
      version = CudaVersion::parse(text_at(*root, {"cuda", "version"}));
    }
    // cuda-13 is a link to cuda-13.0.
    const bool known =
        version && std::ranges::find(found, *version, &Toolkit::version) != found.end();
    if (version && !known) found.push_back({text ? file : "/usr/local/" + name, *version});
  }
  return found;
}

// The newest libcuda of a cuda-compat package, of any toolkit.
std::optional<DriverLibrary> compat_library(Exam& exam) {
  std::optional<DriverLibrary> best;
  for (const auto& name : exam.list("/usr/local")) {
    if (!name.starts_with("cuda-")) continue;
    const std::string folder = "/usr/local/" + name + "/compat";
    for (const auto& file : exam.list(folder)) {
      constexpr std::string_view start = "libcuda.so.";
      if (!file.starts_with(start) || std::ranges::count(file, '.') < 3) continue;
      const std::string version = file.substr(start.size());
      if (!best || compare_versions(version, best->version) > 0)
        best = DriverLibrary{fmt::format("{}/{}", folder, file), version};
    }
  }
  return best;
}

// How a toolkit that is too new may run all the same.
std::string forward_way(Exam& exam, CudaVersion toolkit) {
  const auto compat = compat_library(exam);
  const auto gpus = driven_gpus(exam);
  const auto allowed = gpus.empty() ? std::nullopt : has_forward_compatibility(gpus.front().model);
  if (!compat) return "";
  if (fit_of(toolkit, compat->version) == CudaFit::too_old || !allowed.value_or(true)) return "";
  return compat->path;
}

std::string fit_line(CudaVersion toolkit) {
  return fmt::format("CUDA {} was released with driver {}; CUDA {}.x begins with branch {}",
                     toolkit.text(), driver_of_toolkit(toolkit), toolkit.major,
                     first_branch_of(toolkit.major));
}

}  // namespace

void check_cuda_driver(Exam& exam) {
  const auto driver = loaded_driver(exam);
  const auto toolkits = cuda_toolkits(exam);
  if (!driver || toolkits.empty()) {
    exam.not_here(!driver ? "no module of NVIDIA's is loaded" : "no CUDA toolkit is in /usr/local");
    return;
  }
  std::string seen;
  for (const auto& toolkit : toolkits) {
    const CudaFit fit = fit_of(toolkit.version, *driver);
    const std::string name = "CUDA " + toolkit.version.text();
    seen += (seen.empty() ? "" : ", ") + name;
    if (fit == CudaFit::unknown) {
      exam.not_looked(
          fmt::format("{}: {} with driver {} is not in NVIDIA's table as it is known here",
                      toolkit.file, name, *driver));
    } else if (fit == CudaFit::minor_compat) {
      exam.found_at(
              {toolkit.file, 0, 0},
              fmt::format(
                  "{} is newer than driver {}: it runs with fewer features, and PTX of it does not",
                  name, *driver),
              {fit_line(toolkit.version), "module in the kernel: " + *driver})
          .severity = Severity::info;
    } else if (fit == CudaFit::too_old) {
      const std::string way = forward_way(exam, toolkit.version);
      Finding& finding = exam.found_at(
          {toolkit.file, 0, 0}, fmt::format("{} does not run on driver {}", name, *driver),
          {fit_line(toolkit.version), "module in the kernel: " + *driver});
      if (!way.empty()) {
        finding.message += " without forward compatibility, which is installed";
        finding.severity = Severity::info;
        finding.evidence.push_back(way);
      }
    }
  }
  exam.fine(fmt::format("{} on driver {}", seen, *driver));
}

void check_cuda_compat(Exam& exam) {
  const auto driver = loaded_driver(exam);
  const auto compat = compat_library(exam);
  if (!driver || !compat) {
    exam.not_here(!driver ? "no module of NVIDIA's is loaded"
                          : "no cuda-compat library is in /usr/local");
    return;
  }
  std::vector<std::string> files = exam.files("/etc/ld.so.conf.d", ".conf");
  files.emplace_back("/etc/ld.so.conf");
  std::string in_use;
  for (const auto& file : files) {
    const std::string text = exam.read(file).value_or("");
    if (text.find("/compat") != std::string::npos) in_use = file;
  }
  if (in_use.empty()) {
    exam.fine(fmt::format("{}, and the loader's files do not name it", compat->path));
    return;
  }
  if (compare_versions(compat->version, *driver) < 0) {
    exam.found_at(
        {in_use, 0, 0},
        fmt::format("programs load libcuda {} where the driver is {}", compat->version, *driver),
        {compat->path, "module in the kernel: " + *driver});
  }
  for (const auto& gpu : driven_gpus(exam)) {
    if (has_forward_compatibility(gpu.model).value_or(true)) continue;
    exam.found_at({in_use, 0, 0}, fmt::format("{} has no forward compatibility", gpu.model),
                  {compat->path, "GPU " + gpu.address + ": " + gpu.model});
  }
  exam.fine(fmt::format("{} on driver {}", compat->path, *driver));
}

namespace {

struct Torch {
  std::string file;
  std::string version;  // "2.6.0+cu124"
  std::string cuda;     // "12.4"; empty: built without
};

// NAME = 'value' or NAME: type = 'value' in torch/version.py; empty for None.
std::string python_text(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(name) || line.size() <= name.size()) continue;
    const char next = line[name.size()];
    if (next != ' ' && next != ':' && next != '=') continue;
    const auto first = line.find_first_of("'\"");
    if (first == std::string_view::npos) return "";
    return std::string(line.substr(first + 1, line.find_first_of("'\"", first + 1) - first - 1));
  }
  return "";
}

std::vector<Torch> torch_builds(Exam& exam) {
  std::vector<std::string> folders = {"/usr/lib/python3/dist-packages"};
  std::vector<std::string> prefixes = {
      "/usr/lib",  "/usr/local/lib", "/usr/lib64",          "/usr/local/lib64",
      "/venv/lib", "/app/.venv/lib", "/workspace/.venv/lib"};
  for (const auto& name : exam.list("/opt")) {
    for (const auto* below : {"lib", ".venv/lib", "venv/lib"})
      prefixes.push_back(fmt::format("/opt/{}/{}", name, below));
  }
  for (const auto& prefix : prefixes) {
    for (const auto& name : exam.list(prefix)) {
      if (!name.starts_with("python3.")) continue;
      for (const auto* kind : {"site-packages", "dist-packages"})
        folders.push_back(fmt::format("{}/{}/{}", prefix, name, kind));
    }
  }
  std::vector<Torch> found;
  for (const auto& folder : folders) {
    const std::string file = folder + "/torch/version.py";
    if (const auto text = exam.read(file)) {
      found.push_back({file, python_text(*text, "__version__"), python_text(*text, "cuda")});
    }
  }
  return found;
}

void judge_torch(Exam& exam, const Torch& torch, const std::string& driver) {
  const auto cuda = CudaVersion::parse(torch.cuda);
  if (!cuda) {
    exam.found_at({torch.file, 0, 0}, fmt::format("torch {} is built without CUDA", torch.version),
                  {"cuda = None"});
    return;
  }
  const CudaFit fit = fit_of(*cuda, driver);
  if (fit == CudaFit::unknown) {
    exam.not_looked(
        fmt::format("{}: CUDA {} with driver {} is not in NVIDIA's table as it is known here",
                    torch.file, cuda->text(), driver));
  } else if (fit == CudaFit::too_old && forward_way(exam, *cuda).empty()) {
    exam.found_at({torch.file, 0, 0},
                  fmt::format("torch {} does not run on driver {}", torch.version, driver),
                  {fit_line(*cuda), "module in the kernel: " + driver});
  }
  // NVIDIA's images, distributions and people build for other cards than PyTorch does; its own builds say so in their version.
  if (torch.version.find("+cu") == std::string::npos) {
    exam.not_looked(fmt::format(
        "torch {} is no build of PyTorch's own: see torch.cuda.get_arch_list()", torch.version));
    return;
  }
  std::set<std::string> models;
  for (const auto& gpu : driven_gpus(exam)) models.insert(gpu.model);
  if (models.empty())
    exam.not_looked("/proc/driver/nvidia/gpus: no card is listed, for which torch would need code");
  for (const auto& model : models) {
    const auto capability = compute_capability(model);
    const auto has_code = capability ? torch_has_code_for(*cuda, *capability) : std::nullopt;
    if (!has_code) {
      exam.not_looked(fmt::format(
          "whether torch {} has code for {} is not known here: see torch.cuda.get_arch_list()",
          torch.version, model));
    } else if (!*has_code) {
      exam.found_at(
          {torch.file, 0, 0}, fmt::format("torch {} has no code for {}", torch.version, model),
          {fmt::format("compute capability {}.{}; PyTorch's builds for CUDA {} have none for it",
                       *capability / 10, *capability % 10, cuda->text())});
    }
  }
}

}  // namespace

void check_torch(Exam& exam) {
  const auto builds = torch_builds(exam);
  const auto driver = loaded_driver(exam);
  if (builds.empty() || !driver) {
    exam.not_here(builds.empty() ? "no torch lies where it is looked for"
                                 : "no module of NVIDIA's is loaded");
    return;
  }
  std::string seen;
  for (const auto& torch : builds) {
    judge_torch(exam, torch, *driver);
    seen += (seen.empty() ? "" : ", ") + torch.version;
  }
  exam.fine(fmt::format("torch {} on driver {} and {} GPU{}", seen, *driver,
                        driven_gpus(exam).size(), driven_gpus(exam).size() == 1 ? "" : "s"));
}

}  // namespace stoker::doctor
