// Edge: the list of processes of `stoker top`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "api/gpu_cells.h"
#include "api/owner_cells.h"
#include "api/top_rows.h"
#include "model/wrap.h"

namespace stoker::api {
namespace {

struct ProcessRow {
  const Json* process = nullptr;
  double gpu = 0;
  std::string gpu_cell;
  double pid = 0;
  double memory = -1;  // unknown
  std::string memory_cell;
  std::string type;
  std::string name;
  std::string owner;
};

std::vector<ProcessRow> read_processes(const Json& gpus, const std::string& filter) {
  std::vector<ProcessRow> rows;
  for (const Json& gpu : list_of(gpus, "gpus")) {
    for (const Json& process : list_of(gpu, "processes")) {
      if (!mentions(process, filter)) continue;
      ProcessRow row{.process = &process,
                     .gpu = number_of(gpu, "index"),
                     .gpu_cell = number_cell(gpu, "index"),
                     .pid = number_of(process, "pid"),
                     .memory_cell = number_cell(process, "memory_bytes", 1, gibibyte),
                     .type = text_of(process, "kind"),
                     .name = text_of(process, "name"),
                     .owner = owner_cell(process)};
      if (process.contains("memory_bytes") && process["memory_bytes"].is_number()) {
        row.memory = number_of(process, "memory_bytes");
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// Those that nobody is known for come last.
bool has_owner(const ProcessRow& row) {
  return !list_of(*row.process, "job").empty() || !list_of(*row.process, "pod").empty() ||
         !text_of(*row.process, "container_id").empty();
}

void sort(std::vector<ProcessRow>& rows, ProcessOrder order) {
  std::ranges::sort(rows, [order](const ProcessRow& a, const ProcessRow& b) {
    const auto rest = std::tie(a.gpu, a.pid) < std::tie(b.gpu, b.pid);
    switch (order) {
      case ProcessOrder::memory: return a.memory != b.memory ? a.memory > b.memory : rest;
      case ProcessOrder::pid: return a.pid != b.pid ? a.pid < b.pid : rest;
      case ProcessOrder::name: return a.name != b.name ? a.name < b.name : rest;
      case ProcessOrder::owner:
        if (has_owner(a) != has_owner(b)) return has_owner(a);
        return a.owner != b.owner ? a.owner < b.owner : rest;
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

// What a process's row looks like in a terminal of some width.
class Columns {
 public:
  Columns(std::size_t width, bool owners, bool unicode) : unicode_(unicode) {
    if (!owners || width < owners_from) return;
    if (width >= own_columns_from) {
      pod_ = std::min<std::size_t>(24 + (width - own_columns_from) / 2, 48);
    } else {
      owner_ = width - before_owner - name_width - 1;
    }
  }

  [[nodiscard]] std::string titles() const {
    const std::string front = fmt::format(" {:>3} {:>8} {:>8}", "GPU", "PID", "MEM GiB");
    if (pod_ > 0) {
      return fmt::format("{} {:<8} {:<10} {:<{}} {:<16} {:<16} {}", front, "TYPE", "USER", "POD",
                         pod_, "CONTAINER", "JOB", "NAME");
    }
    if (owner_ > 0) {
      return fmt::format("{} T {:<8} {:<{}} {}", front, "USER", "OWNER", owner_, "NAME");
    }
    return fmt::format("{} {:<9} {}", front, "TYPE", "NAME");
  }

  [[nodiscard]] std::string line(const ProcessRow& row) const {
    const std::string front =
        fmt::format(" {:>3} {:>8} {:>8}", row.gpu_cell, row.pid, row.memory_cell);
    const Json& process = *row.process;
    if (pod_ > 0) {
      return fmt::format("{} {:<8} {} {} {} {} {}", front, row.type, ends(user_cell(process), 10),
                         pad(cut_pod(pod_cell(process), pod_, unicode_), pod_),
                         ends(container_cell(process), 16), ends(job_cell(process), 16), row.name);
    }
    if (owner_ > 0) {
      const bool job = !list_of(process, "job").empty();
      return fmt::format(
          "{} {} {} {} {}", front, row.type == "graphics" ? 'G' : 'C', ends(user_cell(process), 8),
          job ? ends(row.owner, owner_) : pad(cut_pod(row.owner, owner_, unicode_), owner_),
          row.name);
    }
    return fmt::format("{} {:<9} {}", front, row.type, row.name);
  }

 private:
  static constexpr std::size_t owners_from = 72;        // columns of a terminal
  static constexpr std::size_t own_columns_from = 120;  // likewise
  static constexpr std::size_t before_owner = 34;
  static constexpr std::size_t name_width =
      15;  // TASK_COMM_LEN less its end: what /proc/PID/comm has

  [[nodiscard]] std::string ends(const std::string& text, std::size_t width) const {
    return pad(cut_end(text, width, unicode_), width);
  }

  const bool unicode_;
  std::size_t owner_ = 0;  // width of the one column for owners; 0: none
  std::size_t pod_ = 0;    // width of the column for pods beside others; 0: none
};

}  // namespace

const char* to_string(ProcessOrder order) {
  constexpr std::array<const char*, 5> words = {"gpu", "memory", "pid", "name", "owner"};
  return words.at(static_cast<std::size_t>(order));
}

std::vector<TopLine> process_rows(const Json& gpus, const Json& attribution,
                                  const TopChoice& choice, std::size_t width, std::size_t most) {
  if (most < 2) return {};
  auto rows = read_processes(gpus, choice.filter);
  sort(rows, choice.processes);
  const Columns columns(width, !attribution.empty(), choice.unicode);
  std::vector<TopLine> lines = {{{columns.titles(), TopStyle::title}}};
  for (const std::string& why : why_no_owners(attribution)) {
    if (!rows.empty() && lines.size() + 1 < most) lines.push_back({{" " + why, TopStyle::warning}});
  }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    if (lines.size() + 1 == most && n + 1 < rows.size()) {
      lines.push_back({{fmt::format(" and {} more", rows.size() - n), TopStyle::dim}});
      return lines;
    }
    lines.push_back({{columns.line(rows[n])}});
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
