// Analyzer stage: which kernel the boot loader will start. GRUB's menu, grub.cfg, is what it reads; /etc/default/grub is
// what the menu will be made of the next time. What can't be told is not guessed at.
#include <algorithm>

#include "base/text.h"
#include "doctor/kernels.h"
#include "doctor/modprobe.h"

namespace stoker::doctor {
namespace {

struct MenuEntry {
  std::string head;    // menuentry 'Ubuntu, with Linux 6.8.0-60-generic' ... {
  std::string kernel;  // "6.8.0-60-generic", of its `linux` line
};

struct GrubMenu {
  bool seen = false;        // there is a grub.cfg
  bool by_entries = false;  // `blscfg`: the menu is made of /boot/loader/entries, the newest first
  std::string asked;        // of `set default=`: "0", a title, an id, "saved"
  std::vector<MenuEntry> entries;
};

std::string kernel_of_line(std::string_view line) {
  const auto words = parts_of(line, " \t");
  if (words.size() < 2) return "";
  const std::string_view file = std::string_view(words[1]).substr(words[1].rfind('/') + 1);
  constexpr std::string_view start = "vmlinuz-";
  return file.starts_with(start) ? std::string(file.substr(start.size())) : "";
}

void take_menu_line(GrubMenu& menu, std::string_view line) {
  constexpr std::string_view set = "set default=";
  if (line.starts_with("menuentry ")) {
    menu.entries.push_back({std::string(line), ""});
  } else if (line.starts_with("linux") && !menu.entries.empty() &&
             menu.entries.back().kernel.empty()) {
    menu.entries.back().kernel = kernel_of_line(line);
  } else if (line.starts_with("blscfg")) {
    menu.by_entries = true;
  } else if (line.starts_with(set) && line.find("next_entry") == std::string_view::npos) {
    const auto value = trimmed(line.substr(set.size()), "\"' ");
    menu.asked = value.find("saved_entry") == std::string_view::npos ? value : "saved";
  }
}

GrubMenu read_menu(Exam& exam) {
  constexpr std::size_t largest = 8 << 20;
  GrubMenu menu;
  for (const auto* file : {"/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"}) {
    const auto text = exam.read(file, largest);
    if (!text) continue;
    menu.seen = true;
    std::string_view rest(*text);
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      take_menu_line(menu, trimmed(line, " \t\r"));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  return menu;
}

// The entry that starts: a number, a title, an id; empty or "0": the first.
std::string asked_entry(Exam& exam, const GrubMenu& menu) {
  std::string fallback = menu.asked;
  if (!menu.seen) {
    fallback = setting_of(exam.read("/etc/default/grub").value_or(""), "GRUB_DEFAULT");
    for (const auto& file : exam.files("/etc/default/grub.d", ".cfg")) {
      const std::string more = setting_of(exam.read(file).value_or(""), "GRUB_DEFAULT");
      if (!more.empty()) fallback = more;
    }
  }
  std::string entry = fallback == "saved" ? "" : fallback;
  for (const auto* file : {"/boot/grub/grubenv", "/boot/grub2/grubenv"}) {
    const std::string text = exam.read(file).value_or("");
    const std::string once = setting_of(text, "next_entry");
    const std::string saved = setting_of(text, "saved_entry");
    if (!once.empty()) {
      entry = once;
    } else if (fallback == "saved" && !saved.empty()) {
      entry = saved;
    }
  }
  return entry == "0" ? "" : entry;
}

// The longest of the installed versions that `entry`, a title or id of a menu entry, names.
std::string kernel_in(std::string_view entry, const std::vector<std::string>& installed) {
  std::string best;
  for (const auto& kernel : installed) {
    if (entry.find(kernel) != std::string_view::npos && kernel.size() > best.size()) best = kernel;
  }
  return best;
}

// Of an entry that is asked for by a title or id without a version in it.
std::string kernel_of_entry(const GrubMenu& menu, std::string_view asked) {
  const auto last = std::string(asked.substr(asked.rfind('>') + 1));
  const auto found = std::ranges::find_if(menu.entries, [&](const MenuEntry& entry) {
    return entry.head.find("'" + last + "'") != std::string::npos ||
           entry.head.find("\"" + last + "\"") != std::string::npos;
  });
  return found == menu.entries.end() ? "" : found->kernel;
}

bool has_systemd_boot(Exam& exam) {
  // bootctl(1): the files of systemd-boot on the EFI system partition, wherever that is mounted.
  constexpr const char* files[] = {"/boot/loader/loader.conf", "/boot/efi/loader/loader.conf",
                                   "/efi/loader/loader.conf"};
  return std::ranges::any_of(files, [&](const char* file) { return exam.exists(file); });
}

void decide(Kernels& kernels, const std::string& kernel, const std::string& because) {
  const bool known = std::ranges::find(kernels.installed, kernel) != kernels.installed.end();
  kernels.next = known ? kernel : "";
  kernels.next_because = because;
}

}  // namespace

void choose_next_kernel(Exam& exam, Kernels& kernels) {
  if (kernels.installed.empty()) return;
  if (has_systemd_boot(exam)) {
    kernels.next_because = "systemd-boot is set up, and which entry it starts is not seen";
    return;
  }
  const GrubMenu menu = read_menu(exam);
  const std::string asked = asked_entry(exam, menu);
  std::string chosen = kernel_in(asked, kernels.installed);
  if (!asked.empty()) {
    if (chosen.empty()) chosen = kernel_of_entry(menu, asked);
    decide(kernels, chosen, "GRUB's choice");
    if (kernels.next.empty()) {
      kernels.next_because = "GRUB's entry '" + asked + "' names no kernel that is installed";
    }
  } else if (!menu.entries.empty() && !menu.by_entries) {
    const std::string& first = menu.entries.front().kernel;
    decide(kernels, first, "the first entry of GRUB's menu");
    if (kernels.next.empty()) {
      kernels.next_because =
          "the first entry of GRUB's menu starts '" + first + "', which is not in /boot";
    }
  } else if (menu.by_entries) {
    decide(kernels, kernels.installed.back(), "the newest, which GRUB puts first");
  } else if (kernels.installed.size() == 1) {
    decide(kernels, kernels.installed.front(), "the only one that is installed");
  } else {
    kernels.next_because =
        "several kernels are in /boot and no grub.cfg is seen, so which starts next is unknown";
  }
}

}  // namespace stoker::doctor
