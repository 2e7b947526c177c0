#include "doctor/modprobe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace stoker::doctor {
namespace {

constexpr std::size_t largest_menu = 8 << 20;

void take_lines(const std::string& file, std::string text, std::vector<ModprobeLine>& lines) {
  // A '\' at the end of a line goes on with the next.
  for (auto at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n", at)) {
    text.replace(at, 2, "  ");
  }
  int number = 0;
  std::string_view rest(text);
  while (!rest.empty()) {
    ++number;
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (trimmed(line).starts_with('#')) continue;
    auto words = parts_of(line, " \t\r");
    if (words.size() > 1) lines.push_back({file, number, std::move(words)});
  }
}

// Lines of GRUB's menu that start a kernel, and `options` of the boot loader's entries.
void take_menu(const std::string& file, std::string_view text, std::string_view start,
               std::vector<CommandLine>& lines) {
  while (!text.empty()) {
    const auto line = trimmed(text.substr(0, text.find('\n')), " \t\r");
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (line.starts_with(start)) lines.push_back({file, std::string(line), false});
  }
}

}  // namespace

std::vector<std::string> parts_of(std::string_view text, std::string_view between) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find_first_of(between));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

std::string setting_of(std::string_view text, std::string_view key) {
  std::string found;
  while (!text.empty()) {
    auto line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (!line.starts_with(key) || line.substr(key.size()).substr(0, 1) != "=") continue;
    found = trimmed(line.substr(key.size() + 1), "\"' \r");
  }
  return found;
}

std::string module_name(std::string_view name) {
  std::string plain(name);
  std::ranges::replace(plain, '-', '_');
  return plain;
}

ModprobeFiles read_modprobe(Exam& exam) {
  ModprobeFiles files;
  std::set<std::string> known;
  for (const std::string folder :
       {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
        "/lib/modprobe.d"}) {
    for (const auto& name : exam.list(folder)) {
      if (!name.ends_with(".conf") || !known.insert(name).second) continue;
      const std::string path = fmt::format("{}/{}", folder, name);
      if (exam.link(path).value_or("") == "/dev/null") continue;
      auto text = exam.read(path);
      if (!text) continue;
      ++files.read;
      take_lines(path, std::move(*text), files.lines);
    }
  }
  return files;
}

std::vector<CommandLine> command_lines(Exam& exam) {
  std::vector<CommandLine> lines;
  if (auto running = exam.word("/proc/cmdline")) {
    lines.push_back({"/proc/cmdline", std::move(*running), true});
  }
  auto settings = exam.files("/etc/default/grub.d", ".cfg");
  settings.insert(settings.begin(), "/etc/default/grub");
  for (const auto& file : settings) {
    const auto text = exam.read(file);
    if (!text) continue;
    for (const auto* key : {"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"}) {
      lines.push_back({file + ": " + key, setting_of(*text, key), false});
    }
  }
  for (const auto* file : {"/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"}) {
    take_menu(file, exam.read(file, largest_menu).value_or(""), "linux", lines);
  }
  for (const auto& file : exam.files("/boot/loader/entries", ".conf")) {
    take_menu(file, exam.read(file).value_or(""), "options", lines);
  }
  if (auto text = exam.word("/etc/kernel/cmdline")) {
    lines.push_back({"/etc/kernel/cmdline", std::move(*text), false});
  }
  return lines;
}

}  // namespace stoker::doctor
