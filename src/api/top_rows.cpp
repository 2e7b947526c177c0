#include "api/top_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "api/gpu_cells.h"
#include "api/owner_cells.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

// NVML's bits of why clocks are below what was asked for (nvml.h, nvmlClocksEventReasons); idle and a
// user's own setting are no trouble.
struct Held {
  std::uint64_t bit;
  std::string_view word;
};
constexpr std::array<Held, 5> held_down = {{
    {0x40, "HW-THERM"},
    {0x80, "HW-BRAKE"},
    {0x08, "HW-SLOW"},
    {0x20, "SW-THERM"},
    {0x04, "PWR-CAP"},
}};

std::string note_of(const Json& gpu) {
  std::string state = text_of(gpu, "state");
  if (state != "present") return state;
  const auto reasons = static_cast<std::uint64_t>(number_of(gpu, "throttle_reasons"));
  for (const Held& held : held_down) {
    if ((reasons & held.bit) != 0) return std::string(held.word);
  }
  const double age = number_of(gpu, "last_answer_age_seconds");
  return age > 5 ? fmt::format("{:.0f} s old", age) : "";
}

TopStyle style_of(const Json& gpu, const std::string& note) {
  if (text_of(gpu, "state") != "present") return TopStyle::bad;
  if (note.empty() || note == "PWR-CAP") return TopStyle::plain;
  return TopStyle::warning;
}

double order_key(const Json& gpu, GpuOrder order) {
  switch (order) {
    case GpuOrder::utilization: return -number_of(gpu, "utilization_percent");
    case GpuOrder::power: return -number_of(gpu, "power_watts");
    case GpuOrder::temperature: return -number_of(gpu, "temperature_celsius");
    case GpuOrder::memory: return -number_of(gpu, "memory_used_bytes");
    default: return number_of(gpu, "index");
  }
}

std::string bar_of(const Json& gpu, bool unicode) {
  constexpr std::size_t cells = 5;
  if (!gpu.contains("utilization_percent") || !gpu["utilization_percent"].is_number()) {
    return std::string(cells, ' ');
  }
  const double share = std::clamp(number_of(gpu, "utilization_percent"), 0.0, 100.0) / 100;
  const auto filled = static_cast<std::size_t>(std::lround(share * cells));
  std::string bar;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    bar += cell < filled ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  }
  return bar;
}

std::string mig_row(const Json& gpu, const Json& mig) {
  return fmt::format("    MIG {:<10} SM {:>4} DRAM {:>4}  {:>9} GiB  {}", text_of(mig, "profile"),
                     number_cell(mig, "sm_active_percent"), number_cell(mig, "dram_active_percent"),
                     memory_cell(mig), first_of(device_owners(gpu, &mig)));
}

constexpr std::size_t note_width = 8;     // of the longest of held_down
constexpr std::size_t owners_from = 100;  // columns of a terminal that has room for them

bool shows_owners(const Json& gpus, std::size_t width) {
  return width >= owners_from && std::ranges::any_of(list_of(gpus, "gpus"), [](const Json& gpu) {
           return !device_owners(gpu, nullptr).empty();
         });
}

}  // namespace

const char* to_string(GpuOrder order) {
  constexpr std::array<const char*, 5> words = {"index", "utilization", "power", "temperature",
                                                "memory"};
  return words.at(static_cast<std::size_t>(order));
}

GpuRows gpu_rows(const Json& gpus, const TopChoice& choice, std::size_t width) {
  const bool owners = shows_owners(gpus, width);
  std::vector<const Json*> ordered;
  for (const Json& gpu : list_of(gpus, "gpus")) ordered.push_back(&gpu);
  std::ranges::sort(ordered, {}, [&choice](const Json* gpu) {
    return std::pair(order_key(*gpu, choice.gpus), number_of(*gpu, "index"));
  });
  GpuRows rows{.gpus = ordered.size()};
  rows.lines.push_back(
      {{fmt::format(" GPU {:<14} {:>5} {:<5} {:>4} {:>4} {:>4} {:>4} {:>8} {:>10} {}", "NAME",
                    "UTIL%", "", "SM%", "TC%", "DRAM", "TEMP", "POWER W", "MEM GiB",
                    owners ? "NOTE     OWNER" : "NOTE"),
        TopStyle::title}});
  for (std::size_t row = 0; row < ordered.size(); ++row) {
    const Json& gpu = *ordered[row];
    const std::string note = note_of(gpu);
    const bool chosen = row == std::min(choice.row, ordered.size() - 1);
    if (chosen) rows.chosen = &gpu;
    std::string end = note;
    if (owners) end = pad(note, note_width) + " " + first_of(device_owners(gpu, nullptr));
    rows.lines.push_back(
        {{fmt::format(
              "{}{:>3} {:<14} {:>5} {} {:>4} {:>4} {:>4} {:>4} {:>8} {:>10} {}", chosen ? ">" : " ",
              number_cell(gpu, "index"), name_cell(gpu, 14),
              number_cell(gpu, "utilization_percent"), bar_of(gpu, choice.unicode),
              number_cell(gpu, "sm_active_percent"), number_cell(gpu, "tensor_active_percent"),
              number_cell(gpu, "dram_active_percent"), number_cell(gpu, "temperature_celsius"),
              power_cell(gpu), memory_cell(gpu), end),
          chosen ? TopStyle::chosen : style_of(gpu, note)}});
    for (const Json& mig : list_of(gpu, "mig_devices")) rows.lines.push_back({{mig_row(gpu, mig)}});
  }
  if (ordered.empty()) rows.lines.push_back({{" no GPU is known", TopStyle::warning}});
  return rows;
}

std::string owners_line(const Json& gpu) {
  const auto owners = device_owners(gpu, nullptr);
  if (owners.empty()) return "";
  return fmt::format(" GPU {} is held by {}", number_cell(gpu, "index"), fmt::join(owners, ", "));
}

}  // namespace stoker::api
