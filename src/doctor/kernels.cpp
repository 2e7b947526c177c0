#include "doctor/kernels.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace stoker::doctor {
namespace {

bool is_digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

// The order of one sign outside of digits, deb-version(7).
int rank_of(std::string_view text, std::size_t at) {
  if (at >= text.size() || is_digit_at(text, at)) return 0;
  const auto sign = static_cast<unsigned char>(text[at]);
  if (sign == '~') return -1;
  return std::isalpha(sign) != 0 ? sign : sign + 256;
}

std::string_view digits_at(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t first = at;
  while (is_digit_at(text, at)) ++at;
  return text.substr(first, at - first);
}

// KEY=value or KEY="value" of a shell-like file.
std::string setting_of(std::string_view text, std::string_view key) {
  std::string found;
  while (!text.empty()) {
    auto line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (!line.starts_with(key) || line.substr(key.size()).substr(0, 1) != "=") continue;
    found = trimmed(line.substr(key.size() + 1), "\"' ");
  }
  return found;
}

// The longest of the installed versions that `entry`, a title or id of a menu entry, names.
std::string kernel_in(std::string_view entry, const std::vector<std::string>& installed) {
  std::string best;
  for (const auto& kernel : installed) {
    if (entry.find(kernel) != std::string_view::npos && kernel.size() > best.size()) best = kernel;
  }
  return best;
}

void choose_next(Exam& exam, Kernels& kernels) {
  if (kernels.installed.empty()) return;
  kernels.next = kernels.installed.back();
  kernels.next_because = "the newest that is installed";
  std::string fallback = setting_of(exam.read("/etc/default/grub").value_or(""), "GRUB_DEFAULT");
  for (const auto& file : exam.files("/etc/default/grub.d", ".cfg")) {
    const std::string more = setting_of(exam.read(file).value_or(""), "GRUB_DEFAULT");
    if (!more.empty()) fallback = more;
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
  const std::string chosen = kernel_in(entry, kernels.installed);
  if (!chosen.empty()) {
    kernels.next = chosen;
    kernels.next_because = "GRUB's choice";
  } else if (!entry.empty() && entry != "0") {
    kernels.next.clear();
    kernels.next_because = "GRUB's entry '" + entry + "' names no kernel that is installed";
  }
}

}  // namespace

std::strong_ordering compare_versions(std::string_view one, std::string_view other) {
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < one.size() || b < other.size()) {
    while ((a < one.size() && !is_digit_at(one, a)) ||
           (b < other.size() && !is_digit_at(other, b))) {
      const int left = rank_of(one, a);
      const int right = rank_of(other, b);
      if (left != right) return left <=> right;
      ++a;
      ++b;
    }
    const auto left = digits_at(one, a);
    const auto right = digits_at(other, b);
    if (left.size() != right.size()) return left.size() <=> right.size();
    if (const int order = left.compare(right); order != 0) return order <=> 0;
  }
  return std::strong_ordering::equal;
}

Kernels read_kernels(Exam& exam) {
  Kernels kernels;
  kernels.running = exam.word("/proc/sys/kernel/osrelease").value_or("");
  for (const auto& name : exam.list("/boot")) {
    constexpr std::string_view start = "vmlinuz-";
    if (name.starts_with(start) && name.find("rescue") == std::string::npos) {
      kernels.installed.push_back(name.substr(start.size()));
    }
  }
  std::ranges::sort(kernels.installed, [](const std::string& one, const std::string& other) {
    return compare_versions(one, other) < 0;
  });
  choose_next(exam, kernels);
  return kernels;
}

std::optional<std::string> module_file(Exam& exam, const std::string& kernel) {
  constexpr std::size_t largest_list = 16 << 20;
  const auto text = exam.read("/lib/modules/" + kernel + "/modules.dep", largest_list);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    const auto path = line.substr(0, line.find(':'));
    const auto name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("nvidia.ko") || name.starts_with("nvidia-current.ko")) {
      return std::string(path);
    }
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return std::nullopt;
}

}  // namespace stoker::doctor
