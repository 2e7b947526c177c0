#include "api/gpu_cells.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace stoker::api {
namespace {

// Reasons as words that fit a column; model/reading.h says what they mean.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> short_words = {{
    {"not_applicable", "-"},
    {"not_supported", "n/a"},
    {"no_source", "n/a"},
    {"pending", "..."},
    {"no_permission", "denied"},
    {"lost", "lost"},
    {"hung", "hung"},
    {"stale", "old"},
    {"invalid", "bad"},
    {"driver_gone", "gone"},
    {"failed", "failed"},
}};

bool has_number(const Json& gpu, const std::string& key) {
  const auto found = gpu.find(key);
  return found != gpu.end() && found->is_number();
}

}  // namespace

std::string number_cell(const Json& gpu, const std::string& key, int digits, double divisor) {
  if (has_number(gpu, key)) return fmt::format("{:.{}f}", number_of(gpu, key) / divisor, digits);
  return reason_cell(gpu, key);
}

std::string reason_cell(const Json& object, const std::string& key) {
  const std::string reason = text_of(object, key + "_reason");
  for (const auto& [word, cell] : short_words) {
    if (word == reason) return std::string(cell);
  }
  return "?";
}

std::string memory_cell(const Json& gpu) {
  auto used = number_cell(gpu, "memory_used_bytes", 1, gibibyte);
  if (!has_number(gpu, "memory_used_bytes") || !has_number(gpu, "memory_total_bytes")) return used;
  return fmt::format("{}/{}", used, number_cell(gpu, "memory_total_bytes", 1, gibibyte));
}

std::string power_cell(const Json& gpu) {
  auto now = number_cell(gpu, "power_watts");
  if (!has_number(gpu, "power_watts") || !has_number(gpu, "power_limit_watts")) return now;
  return fmt::format("{}/{}", now, number_cell(gpu, "power_limit_watts"));
}

std::string name_cell(const Json& gpu, std::size_t width) {
  std::string name = text_of(gpu, "name");
  if (name.starts_with("NVIDIA ")) name.erase(0, 7);
  if (name.size() > width) name.resize(width);
  return name.empty() ? "?" : name;
}

}  // namespace stoker::api
