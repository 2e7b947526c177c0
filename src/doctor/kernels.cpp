#include "doctor/kernels.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "doctor/modprobe.h"

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

// "nvidia", "nvidia-current" and "nvidia-current-open" (Debian's), "nvidia-tesla-535"; its companions are named after it,
// with one of these ends.
bool is_main_module(std::string_view stem) {
  constexpr auto companions =
      std::to_array<std::string_view>({"_uvm", "_drm", "_modeset", "_peermem", "_vgpu_vfio"});
  if (std::ranges::any_of(companions, [&](auto end) { return stem.ends_with(end); })) return false;
  return stem == "nvidia" || stem.starts_with("nvidia_current") ||
         stem.starts_with("nvidia_tesla") || stem.starts_with("nvidia_legacy");
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
  choose_next_kernel(exam, kernels);
  return kernels;
}

std::optional<ModuleFiles> module_files(Exam& exam, const std::string& kernel) {
  constexpr std::size_t largest_list = 16 << 20;
  const std::string path = "/lib/modules/" + kernel + "/modules.dep";
  const auto text = exam.read(path, largest_list);
  if (!text || text->find(".ko") == std::string::npos) {
    // Where it can't be read the Exam has been told of it.
    if (text || !exam.has_unread()) {
      exam.not_looked(path + (text ? ": names no module" : ": missing") +
                      ", so the kernel's modules are unknown");
    }
    return std::nullopt;
  }
  ModuleFiles files;
  std::string_view rest(*text);
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    const auto file = line.substr(0, line.find(':'));
    const auto name = file.substr(file.rfind('/') + 1);
    const auto stem = module_name(name.substr(0, name.find(".ko")));
    if (files.nvidia.empty() && is_main_module(stem)) files.nvidia = file;
    if (stem.starts_with("nvidia") && stem.ends_with("_uvm")) files.uvm = file;
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return files;
}

std::string module_path(const std::string& kernel, const std::string& file) {
  return file.starts_with('/') ? file : "/lib/modules/" + kernel + "/" + file;
}

}  // namespace stoker::doctor
