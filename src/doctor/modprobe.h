// Analyzer stage: what modprobe and the kernel are told of modules: files of modprobe.d, and command lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/exam.h"

namespace stoker::doctor {

struct ModprobeLine {
  std::string file;
  int line = 0;
  std::vector<std::string> words;  // "blacklist", "nouveau"
};

struct ModprobeFiles {
  std::size_t read = 0;  // files that count
  std::vector<ModprobeLine> lines;
};
// Of all files that count: one of the same name in a folder of higher rank takes another's place, and one that leads to
// /dev/null takes it for nothing (modprobe.d(5)). Comments and empty lines are left out.
ModprobeFiles read_modprobe(Exam& exam);

// "nvidia_uvm" of "nvidia-uvm": modprobe makes no difference between the two signs.
std::string module_name(std::string_view name);

// A command line of the kernel, and where it stands.
struct CommandLine {
  std::string place;  // "/etc/default/grub: GRUB_CMDLINE_LINUX"
  std::string text;
  bool is_running = false;  // it is the running kernel's, and says nothing sure of the next
};
// Of /proc/cmdline, GRUB's settings and menu, /etc/kernel/cmdline, and the boot loader's entries.
std::vector<CommandLine> command_lines(Exam& exam);

// Parts of `text` between signs of `between`; empty ones are left out.
std::vector<std::string> parts_of(std::string_view text, std::string_view between);
// The value of KEY=value or KEY="value" of a shell-like file; the last one counts, empty: none.
std::string setting_of(std::string_view text, std::string_view key);

}  // namespace stoker::doctor
