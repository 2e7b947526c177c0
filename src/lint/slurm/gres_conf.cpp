// gres.conf(5), as of Slurm 26.11.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/closest.h"
#include "base/text.h"
#include "lint/slurm/slurm_report.h"

namespace stoker::lint {
namespace {

constexpr auto gres_keys = std::to_array<std::string_view>(
    {"autodetect", "count", "cores", "cpus", "file", "flags", "link", "links", "multiplefiles",
     "name", "nodename", "type", "include", "ignore"});
constexpr auto detections =
    std::to_array<std::string_view>({"full", "nrt", "nvidia", "nvml", "off", "oneapi", "rsmi"});

std::string value_or(const SlurmLine& line, std::string_view key) {
  const auto* parameter = parameter_of(line, key);
  return parameter == nullptr ? std::string() : parameter->value;
}

bool is_gpu(const SlurmLine& line) { return lower_case(value_or(line, "name")) == "gpu"; }

void check_gres_keys(const SlurmLine& line, SlurmReport& report) {
  if (line.front().key == "include") return;
  for (const auto& parameter : line) {
    if (std::ranges::find(gres_keys, parameter.key) != gres_keys.end()) continue;
    const auto meant =
        did_you_mean(parameter.key, std::vector<std::string>(gres_keys.begin(), gres_keys.end()));
    report.add("slurm-gres-key", parameter.place,
               fmt::format("gres.conf has no parameter '{}'{}", parameter.key,
                           meant.empty() ? "" : "; " + meant));
  }
}

// Count=4, 2K and so on; -1: neither.
long long gres_count(std::string_view text) {
  long long factor = 1;
  if (!text.empty()) {
    const auto suffix = std::string_view("kmg").find(lower_case(text.substr(text.size() - 1)));
    if (suffix != std::string_view::npos) {
      factor = 1LL << (10 * (static_cast<int>(suffix) + 1));
      text.remove_suffix(1);
    }
  }
  const auto number = whole_number<std::uint32_t>(text);
  return number ? static_cast<long long>(*number) * factor : -1;
}

void check_devices_of(const SlurmLine& line, bool detected, SlurmReport& report) {
  const auto* file = parameter_of(line, "file");
  const auto* several = parameter_of(line, "multiplefiles");
  const auto& place = line.front().place;
  if (file != nullptr && several != nullptr) {
    report.add("slurm-gres-files", several->place, "File and MultipleFiles stand on one line");
  }
  if (!is_gpu(line)) return;
  const auto flags = lower_case(value_or(line, "flags"));
  if (file == nullptr && several == nullptr && !detected &&
      flags.find("countonly") == std::string::npos) {
    report.add("slurm-gres-no-file", place, "Name=gpu has neither File nor AutoDetect");
  }
  const auto* count = parameter_of(line, "count");
  if (count != nullptr && file != nullptr) {
    const auto said = gres_count(count->value);
    const auto files = count_of_list(file->value);
    if (said >= 0 && said != static_cast<long long>(files)) {
      report.add("slurm-gres-count", count->place,
                 fmt::format("Count is {}, File names {}", count->value, files),
                 {"File=" + file->value});
    }
  }
  const auto* links = parameter_of(line, "links");
  if (links != nullptr && file != nullptr && count_of_list(file->value) > 1) {
    report.add("slurm-gres-links", links->place,
               fmt::format("File names {} devices", count_of_list(file->value)));
  }
}

void check_gres_flags(const SlurmLine& line, SlurmReport& report) {
  const auto* parameter = parameter_of(line, "flags");
  if (parameter == nullptr) return;
  const auto flags = split_outside_brackets(lower_case(parameter->value));
  const auto has = [&](std::string_view flag) {
    return std::ranges::find(flags, flag) != flags.end();
  };
  const bool sets_env = std::ranges::any_of(flags, [](const std::string& flag) {
    return flag.ends_with("_gpu_env") && flag != "no_gpu_env";
  });
  if (has("no_gpu_env") && (sets_env || has("opencl_env"))) {
    report.add("slurm-gres-flags", parameter->place, "no_gpu_env excludes the other _env flags");
  }
  if (has("one_sharing") && has("all_sharing")) {
    report.add("slurm-gres-flags", parameter->place,
               "one_sharing and all_sharing exclude each other");
  }
}

// "a100_3g.20gb", "3g.20gb": the type of a MIG instance.
bool is_mig(const SlurmLine& line) {
  if (parameter_of(line, "multiplefiles") != nullptr) return true;
  const auto type = lower_case(value_or(line, "type"));
  const auto g = type.find("g.");
  return g != std::string::npos && g > 0 && type[g - 1] >= '1' && type[g - 1] <= '7' &&
         type.find("gb", g) != std::string::npos;
}

void check_detection(const SlurmLines& lines, const std::string& everywhere, SlurmReport& report) {
  std::map<std::string, const SlurmParameter*> by_nodes;
  for (const auto& line : lines) {
    const auto* detect = parameter_of(line, "autodetect");
    const auto nodes = lower_case(value_or(line, "nodename"));
    if (detect != nullptr) {
      const auto word = lower_case(detect->value);
      if (std::ranges::find(detections, word) == detections.end()) {
        report.add("slurm-gres-autodetect", detect->place,
                   fmt::format("AutoDetect knows no '{}'", detect->value));
      }
      const auto [at, is_new] = by_nodes.emplace(nodes, detect);
      if (!is_new && lower_case(at->second->value) != word) {
        report.add("slurm-gres-autodetect-mixed", detect->place,
                   fmt::format("line {} says {}", at->second->place.line, at->second->value));
      }
    }
    const auto word = detect == nullptr ? everywhere : lower_case(detect->value);
    if (word == "nvidia" && is_gpu(line) && is_mig(line)) {
      report.add("slurm-gres-mig", line.front().place, "AutoDetect=nvidia finds no MIG instances");
    }
  }
}

void check_twice_named(const SlurmLines& lines, SlurmReport& report) {
  std::map<std::string, int> seen;  // nodes and device -> line
  for (const auto& line : lines) {
    if (!is_gpu(line)) continue;
    const auto* file = parameter_of(line, "file");
    if (file == nullptr) continue;
    for (const auto& name : names_of_list(file->value)) {
      const auto key = lower_case(value_or(line, "nodename")) + ' ' + name;
      const auto [at, is_new] = seen.emplace(key, file->place.line);
      if (is_new) continue;
      report.add("slurm-gres-twice", file->place,
                 fmt::format("{} stands in line {} too", name, at->second));
      break;
    }
  }
}

}  // namespace

void check_gres_conf(const SlurmLines& lines, SlurmReport& report) {
  std::string everywhere;
  std::set<std::string> detected_nodes;
  for (const auto& line : lines) {
    const auto detect = lower_case(value_or(line, "autodetect"));
    if (detect.empty()) continue;
    const auto nodes = lower_case(value_or(line, "nodename"));
    if (nodes.empty()) everywhere = detect;
    if (!nodes.empty() && detect != "off") detected_nodes.insert(nodes);
  }
  for (const auto& line : lines) {
    check_gres_keys(line, report);
    check_gres_flags(line, report);
    const auto detect = lower_case(value_or(line, "autodetect"));
    const auto nodes = lower_case(value_or(line, "nodename"));
    const bool detected = detect.empty() ? (!everywhere.empty() && everywhere != "off") ||
                                               detected_nodes.contains(nodes)
                                         : detect != "off";
    check_devices_of(line, detected, report);
  }
  check_detection(lines, everywhere, report);
  check_twice_named(lines, report);
}

}  // namespace stoker::lint
