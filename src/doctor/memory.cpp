#include "doctor/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace stoker::doctor {
namespace {

// "65536k", "1g", "50%" of tmpfs's option size; nullopt: none of these.
std::optional<std::uint64_t> tmpfs_size(std::string_view text, std::uint64_t memory) {
  if (text.empty()) return std::nullopt;
  std::uint64_t unit = 1;
  switch (text.back()) {
    case 'k': unit = 1ULL << 10U; break;
    case 'm': unit = 1ULL << 20U; break;
    case 'g': unit = 1ULL << 30U; break;
    case '%': unit = memory / 100; break;
    default: return whole_number<std::uint64_t>(text);
  }
  const auto number = whole_number<std::uint64_t>(text.substr(0, text.size() - 1));
  return number ? std::optional(*number * unit) : std::nullopt;
}

std::uint64_t number_of(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return 0;
  auto rest = trimmed(text.substr(at + key.size(), 40));
  return whole_number<std::uint64_t>(rest.substr(0, rest.find_first_not_of("0123456789")))
      .value_or(0);
}

}  // namespace

std::optional<MemoryInfo> read_meminfo(Exam& exam) {
  const auto text = exam.read("/proc/meminfo");
  if (!text) return std::nullopt;
  constexpr std::uint64_t kib = 1024;
  MemoryInfo info;
  info.total_bytes = number_of(*text, "MemTotal:") * kib;
  info.huge_pages = number_of(*text, "HugePages_Total:");
  info.huge_pages_free = number_of(*text, "HugePages_Free:");
  info.huge_page_bytes = number_of(*text, "Hugepagesize:") * kib;
  if (info.total_bytes == 0) return std::nullopt;
  return info;
}

std::optional<SharedMemory> read_shared_memory(Exam& exam) {
  auto text = exam.read("/proc/self/mounts");
  if (!text) text = exam.read("/proc/mounts");
  if (!text) {
    exam.not_looked("/proc/self/mounts: missing, so the size of /dev/shm is unknown");
    return std::nullopt;
  }
  std::optional<SharedMemory> found;
  std::string_view rest(*text);
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.find(" /dev/shm ") == std::string_view::npos) continue;
    const auto info = read_meminfo(exam);
    const std::uint64_t memory = info ? info->total_bytes : 0;
    const auto at = line.find("size=");
    std::optional<std::uint64_t> bytes = memory / 2;
    if (at != std::string_view::npos) {
      const auto value = line.substr(at + 5);
      bytes = tmpfs_size(value.substr(0, value.find_first_of(", ")), memory);
    }
    if (bytes && *bytes > 0) found = SharedMemory{*bytes, std::string(line)};
  }
  return found;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t gib = 1ULL << 30U;
  constexpr std::uint64_t mib = 1ULL << 20U;
  if (bytes >= gib)
    return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / static_cast<double>(gib));
  return fmt::format("{} MiB", bytes / mib);
}

}  // namespace stoker::doctor
