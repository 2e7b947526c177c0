// Analyzer stage: whether somebody forbids the module, or gives the cards to another, from the next start on.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "doctor/checks.h"
#include "doctor/driver.h"
#include "doctor/modprobe.h"

namespace stoker::doctor {
namespace {

bool is_driver_module(std::string_view name) {
  const std::string plain = module_name(name);
  return plain == "nvidia" || plain == "nvidia_uvm" || plain.starts_with("nvidia_current");
}

bool lists_driver(std::string_view names) {
  return std::ranges::any_of(parts_of(names, ","), is_driver_module);
}

// modprobe.d(5): `install` runs a command in place of loading; `blacklist` leaves out a module's aliases, by which the
// kernel asks for it, and not its name, by which nvidia-modprobe does.
void judge_line(Exam& exam, const ModprobeLine& line) {
  const auto& words = line.words;
  if (!is_driver_module(words[1])) return;
  const std::string text = fmt::format("{}", fmt::join(words, " "));
  if (words[0] == "blacklist") {
    exam.not_looked(fmt::format("{}:{}: `{}`: whether anybody loads it by its name is unknown",
                                line.file, line.line, text));
  } else if (words[0] == "install" && words.size() > 2) {
    const auto& command = words[2];
    if (command.ends_with("/false") || command.ends_with("/true") || command == "false" ||
        command == "true" || command == ":") {
      exam.found_at({line.file, line.line, 0},
                    fmt::format("modprobe is told not to load {}", words[1]), {text});
    } else if (text.find("modprobe") == std::string::npos) {
      exam.not_looked(
          fmt::format("{}:{}: `{}`: what that does is unknown", line.file, line.line, text));
    }
  }
}

// "10de:2330,10de:22a3", beside the ids of the GPUs in sysfs.
void judge_vfio(Exam& exam, const std::string& place, std::string_view ids) {
  const auto listed = parts_of(ids, ",");
  for (const auto& gpu : nvidia_gpus(exam)) {
    const auto device = exam.word(gpu.folder + "/device");
    const std::string id = device && device->starts_with("0x") ? "10de:" + device->substr(2) : "";
    const bool is_listed = std::ranges::any_of(listed, [&](const std::string& each) {
      return id.empty() ? each.starts_with("10de") : each.starts_with(id);
    });
    if (!is_listed) continue;
    if (id.empty() || driver_of(exam, gpu) == "nvidia") {
      exam.not_looked(
          fmt::format("{}: ids={} asks vfio-pci to take GPU {}; who takes it first is unknown",
                      place, ids, gpu.address));
    } else {
      exam.found(fmt::format("vfio-pci is told to take GPU {}", gpu.address),
                 {fmt::format("{}: ids={}", place, ids)});
    }
  }
}

void judge_command_line(Exam& exam, const CommandLine& line) {
  constexpr std::string_view vfio = "vfio_pci.ids=";
  // "vfio-pci.ids=": the kernel makes no difference between the two signs before the '='.
  for (const auto& word : parts_of(line.text, " \t\"'")) {
    const auto value = word.substr(word.find('=') + 1);
    const std::string key = module_name(word.substr(0, word.find('=') + 1));
    if (key == "module_blacklist=" && lists_driver(value)) {
      if (line.is_running) {
        exam.not_looked(line.place + ": " + word + ": whether the next start has it is unknown");
      } else {
        exam.found("the kernel is told to refuse NVIDIA's module", {line.place + ": " + word});
      }
    } else if (key == "modprobe.blacklist=" && lists_driver(value)) {
      exam.not_looked(line.place + ": " + word +
                      ": whether anybody loads it by its name is unknown");
    } else if (key == vfio) {
      judge_vfio(exam, line.place, value);
    }
  }
}

}  // namespace

void check_module_ban(Exam& exam) {
  if (nvidia_gpus(exam).empty() && !loaded_driver(exam)) {
    exam.not_here("there is no NVIDIA GPU on the PCI bus");
    return;
  }
  const ModprobeFiles files = read_modprobe(exam);
  for (const auto& line : files.lines) {
    judge_line(exam, line);
    if (line.words[0] != "options" || module_name(line.words[1]) != "vfio_pci") continue;
    for (const auto& word : line.words) {
      if (word.starts_with("ids=")) judge_vfio(exam, line.file, word.substr(4));
    }
  }
  const auto lines = command_lines(exam);
  for (const auto& line : lines) judge_command_line(exam, line);
  exam.fine(fmt::format("nothing forbids it in {} file{} of modprobe's and {} command line{}",
                        files.read, files.read == 1 ? "" : "s", lines.size(),
                        lines.size() == 1 ? "" : "s"));
}

}  // namespace stoker::doctor
