#include "api/top_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "api/gpu_cells.h"
#include "api/text_plot.h"

namespace stoker::api {
namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;

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

std::string mig_row(const Json& mig) {
  return fmt::format("    MIG {:<10} SM {:>4} DRAM {:>4}  {} GiB", text_of(mig, "profile"),
                     number_cell(mig, "sm_active_percent"), number_cell(mig, "dram_active_percent"),
                     memory_cell(mig));
}

bool has(const std::string& text, const std::string& part) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::ranges::search(text, part, same).begin() != text.end() || part.empty();
}

struct ProcessRow {
  double gpu = 0;
  std::string gpu_cell;
  double pid = 0;
  double memory = -1;  // unknown
  std::string memory_cell;
  std::string type;
  std::string name;
};

std::vector<ProcessRow> read_processes(const Json& gpus, const std::string& filter) {
  std::vector<ProcessRow> rows;
  for (const Json& gpu : list_of(gpus, "gpus")) {
    for (const Json& process : list_of(gpu, "processes")) {
      ProcessRow row{.gpu = number_of(gpu, "index"),
                     .gpu_cell = number_cell(gpu, "index"),
                     .pid = number_of(process, "pid"),
                     .memory_cell = number_cell(process, "memory_bytes", 1, gibibyte),
                     .type = text_of(process, "kind"),
                     .name = text_of(process, "name")};
      if (process.contains("memory_bytes") && process["memory_bytes"].is_number()) {
        row.memory = number_of(process, "memory_bytes");
      }
      if (has(row.name, filter) || has(fmt::format("{}", row.pid), filter)) {
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

void sort(std::vector<ProcessRow>& rows, ProcessOrder order) {
  std::ranges::sort(rows, [order](const ProcessRow& a, const ProcessRow& b) {
    const auto rest = std::tie(a.gpu, a.pid) < std::tie(b.gpu, b.pid);
    switch (order) {
      case ProcessOrder::memory: return a.memory != b.memory ? a.memory > b.memory : rest;
      case ProcessOrder::pid: return a.pid != b.pid ? a.pid < b.pid : rest;
      case ProcessOrder::name: return a.name != b.name ? a.name < b.name : rest;
      default: return rest;
    }
  });
}

// A list that could not be read is not an empty one.
std::vector<std::string> unknown_lists(const Json& gpus) {
  std::vector<std::string> lines;
  for (const Json& gpu : list_of(gpus, "gpus")) {
    const std::string reason = text_of(gpu, "processes_reason");
    if (reason.empty()) continue;
    lines.push_back(fmt::format(" {:>3} processes unknown: {}", number_cell(gpu, "index"), reason));
  }
  return lines;
}

}  // namespace

const char* to_string(ProcessOrder order) {
  constexpr std::array<const char*, 4> words = {"gpu", "memory", "pid", "name"};
  return words.at(static_cast<std::size_t>(order));
}

const char* to_string(GpuOrder order) {
  constexpr std::array<const char*, 5> words = {"index", "utilization", "power", "temperature",
                                                "memory"};
  return words.at(static_cast<std::size_t>(order));
}

GpuRows gpu_rows(const Json& gpus, const TopChoice& choice) {
  std::vector<const Json*> ordered;
  for (const Json& gpu : list_of(gpus, "gpus")) ordered.push_back(&gpu);
  std::ranges::sort(ordered, {}, [&choice](const Json* gpu) {
    return std::pair(order_key(*gpu, choice.gpus), number_of(*gpu, "index"));
  });
  GpuRows rows{.gpus = ordered.size()};
  rows.lines.push_back(
      {{fmt::format(" GPU {:<14} {:>5} {:<5} {:>4} {:>4} {:>4} {:>4} {:>8} {:>10} {}", "NAME",
                    "UTIL%", "", "SM%", "TC%", "DRAM", "TEMP", "POWER W", "MEM GiB", "NOTE"),
        TopStyle::title}});
  for (std::size_t row = 0; row < ordered.size(); ++row) {
    const Json& gpu = *ordered[row];
    const std::string note = note_of(gpu);
    const bool chosen = row == std::min(choice.row, ordered.size() - 1);
    if (chosen) rows.chosen = text_of(gpu, "uuid");
    rows.lines.push_back(
        {{fmt::format(
              "{}{:>3} {:<14} {:>5} {} {:>4} {:>4} {:>4} {:>4} {:>8} {:>10} {}", chosen ? ">" : " ",
              number_cell(gpu, "index"), name_cell(gpu, 14),
              number_cell(gpu, "utilization_percent"), bar_of(gpu, choice.unicode),
              number_cell(gpu, "sm_active_percent"), number_cell(gpu, "tensor_active_percent"),
              number_cell(gpu, "dram_active_percent"), number_cell(gpu, "temperature_celsius"),
              power_cell(gpu), memory_cell(gpu), note),
          chosen ? TopStyle::chosen : style_of(gpu, note)}});
    for (const Json& mig : list_of(gpu, "mig_devices")) rows.lines.push_back({{mig_row(mig)}});
  }
  if (ordered.empty()) rows.lines.push_back({{" no GPU is known", TopStyle::warning}});
  return rows;
}

std::vector<TopLine> process_rows(const Json& gpus, const TopChoice& choice, std::size_t most) {
  if (most < 2) return {};
  auto rows = read_processes(gpus, choice.filter);
  sort(rows, choice.processes);
  std::vector<TopLine> lines = {
      {{fmt::format(" {:>3} {:>8} {:>8} {:<9} {}", "GPU", "PID", "MEM GiB", "TYPE", "NAME"),
        TopStyle::title}}};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    if (lines.size() + 1 == most && n + 1 < rows.size()) {
      lines.push_back({{fmt::format(" and {} more", rows.size() - n), TopStyle::dim}});
      return lines;
    }
    const ProcessRow& row = rows[n];
    lines.push_back({{fmt::format(" {:>3} {:>8} {:>8} {:<9} {}", row.gpu_cell, row.pid,
                                  row.memory_cell, row.type, row.name)}});
  }
  for (const std::string& unknown : unknown_lists(gpus)) {
    lines.push_back({{unknown, TopStyle::warning}});
  }
  if (rows.empty() && lines.size() == 1) {
    lines.push_back(
        {{choice.filter.empty() ? " no process on any GPU" : " no process has that in it",
          TopStyle::dim}});
  }
  return lines;
}

}  // namespace stoker::api
