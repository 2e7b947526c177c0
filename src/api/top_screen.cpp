#include "api/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "api/history_view.h"
#include "api/top_rows.h"

namespace stoker::api {
namespace {

constexpr std::size_t least_width = 40;
constexpr std::size_t least_height = 10;
constexpr std::size_t events_most = 3;

TopStyle style_of_verdict(const std::string& verdict) {
  if (verdict == "ok") return TopStyle::good;
  return verdict == "degraded" ? TopStyle::warning : TopStyle::bad;
}

TopLine header(const Json& status, const Json& gpus, const TopChoice& choice) {
  const std::string verdict = text_of(status, "verdict");
  const std::string time = text_of(gpus, "time");
  TopLine line = {{" " + text_of(list_of(status, "node"), "hostname") + " ", TopStyle::title},
                  {" " + verdict + " ", style_of_verdict(verdict)},
                  {" " + text_of(status, "reason") + " "}};
  if (flag_of(status, "simulated")) line.push_back({" SIMULATED ", TopStyle::warning});
  if (choice.paused) line.push_back({" PAUSED ", TopStyle::warning});
  line.push_back({time.size() > 19 ? " " + time.substr(11, 8) + "Z" : "", TopStyle::dim});
  return line;
}

// The foot: what is wrong, worst first as the status has it.
std::vector<TopLine> events(const Json& status) {
  std::vector<TopLine> lines;
  for (const Json& finding : list_of(status, "findings")) {
    if (lines.size() == events_most) break;
    const std::string severity = text_of(finding, "severity");
    const bool bad = severity == "critical" || severity == "error";
    lines.push_back({{fmt::format(" {:<8} ", severity), bad ? TopStyle::bad : TopStyle::warning},
                     {text_of(finding, "message")}});
  }
  if (lines.empty()) lines.push_back({{" nothing is wrong", TopStyle::dim}});
  return lines;
}

TopLine key_line(const TopChoice& choice) {
  if (choice.typing) return {{" filter: " + choice.filter + "_", TopStyle::title}};
  std::string text = fmt::format(" q quit  ? help  o order:{}  g graph:{}  s sort:{}  / filter",
                                 to_string(choice.gpus), top_graphs().at(choice.graph),
                                 to_string(choice.processes));
  if (!choice.filter.empty()) text += ":" + choice.filter;
  return {{std::move(text), TopStyle::dim}};
}

std::vector<TopLine> help_lines() {
  constexpr std::string_view text =
      " up, down, k, j   choose a GPU (or click it)\n"
      " o                order of the GPUs: index, utilization, power, temperature, memory\n"
      " g, G             next, last graph of the chosen GPU\n"
      " s                order of the processes: gpu, memory, pid, name, owner\n"
      " /                show only processes that have a text in name, pid, user, pod, namespace,\n"
      "                  container or job; Enter keeps it, Escape drops it\n"
      " space            hold still, go on\n"
      " q                quit\n"
      "\n"
      " A cell without a number says why: n/a not supported, ... not read yet, old, hung,\n"
      " lost, denied. SM, TC, DRAM: share of time that multiprocessors, tensor cores and\n"
      " memory were busy (Hopper and later). UTIL counts a spinning kernel as busy.\n"
      " NOTE: why clocks are held down, or how old the last answer is. T: C computes, G draws.\n"
      " OWNER: a process's Slurm job, else its pod or container, - for none; a device's pods\n"
      " and jobs. Wider terminals show them in columns of their own.\n";
  std::vector<TopLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back({{std::string(text.substr(begin, end - begin))}});
    begin = end + 1;
  }
  return lines;
}

// Columns that a text takes: one a code point; ours are all of one column.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

// At most `width` columns of the line.
TopLine cut(TopLine line, std::size_t width) {
  for (TopSpan& span : line) {
    while (columns_of(span.text) > width) {
      do {
        const auto last = static_cast<unsigned char>(span.text.back());
        span.text.pop_back();
        if ((last & 0xc0U) != 0x80U) break;
      } while (!span.text.empty());
    }
    width -= columns_of(span.text);
  }
  return line;
}

std::vector<TopLine> lines_of(const std::string& text, std::size_t most) {
  std::vector<TopLine> lines;
  for (std::size_t begin = 0; begin < text.size() && lines.size() < most;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back({{text.substr(begin, end - begin)}});
    begin = end + 1;
  }
  return lines;
}

std::vector<TopLine> graph(const TopDocuments& documents, const TopChoice& choice,
                           std::size_t width, std::size_t rows) {
  constexpr std::size_t around = 3;  // title, time axis, summary
  if (documents.history.empty() || rows < around + 2) return {};
  const auto plot = plot_history(
      documents.history, {.width = width, .height = rows - around, .unicode = choice.unicode});
  return lines_of(plot ? *plot : plot.error().message(), rows);
}

TopScreen filled_up(std::vector<TopLine> body, std::vector<TopLine> foot, std::size_t width,
                    std::size_t height) {
  TopScreen screen;
  const std::size_t room = height - std::min(height, foot.size());
  body.resize(room);
  for (TopLine& line : body) screen.lines.push_back(cut(std::move(line), width));
  for (TopLine& line : foot) screen.lines.push_back(cut(std::move(line), width));
  screen.lines.resize(height);
  return screen;
}

}  // namespace

const std::vector<std::string>& top_graphs() {
  static const std::vector<std::string> graphs = {"power",         "utilization", "sm_active",
                                                  "tensor_active", "dram_active", "temperature",
                                                  "memory_used",   "sm_clock",    "nvlink_tx"};
  return graphs;
}

Result<TopScreen> top_screen(const TopDocuments& documents, const TopChoice& choice,
                             std::size_t width, std::size_t height) {
  if (width < least_width || height < least_height) {
    return filled_up({{{fmt::format("at least {} x {}", least_width, least_height)}}}, {}, width,
                     height);
  }
  if (!documents.problem.empty()) {
    return filled_up({{{" no answer ", TopStyle::bad}, {" " + documents.problem}}},
                     {key_line(choice)}, width, height);
  }
  const auto status = read_document(documents.status);
  if (!status) return fail(status.error());
  const auto gpus = read_document(documents.gpus);
  if (!gpus) return fail(gpus.error());

  std::vector<TopLine> body = {header(*status, *gpus, choice)};
  std::vector<TopLine> foot = events(*status);
  foot.push_back(key_line(choice));
  if (choice.help) {
    for (TopLine& line : help_lines()) body.push_back(std::move(line));
    return filled_up(std::move(body), std::move(foot), width, height);
  }
  const std::size_t first = body.size() + 1;
  const GpuRows rows = gpu_rows(*gpus, choice, width);
  body.insert(body.end(), rows.lines.begin(), rows.lines.end());
  if (rows.chosen != nullptr) {
    if (auto line = owners_line(*rows.chosen); !line.empty()) body.push_back({{std::move(line)}});
  }
  // Half of what is left to the graph, the rest to the processes.
  const std::size_t used = body.size() + foot.size();
  const std::size_t left = height > used ? height - used : 0;
  for (TopLine& line : graph(documents, choice, width, std::min<std::size_t>(left / 2, 14))) {
    body.push_back(std::move(line));
  }
  const std::size_t now = body.size() + foot.size();
  for (TopLine& line : process_rows(*gpus, list_of(*status, "attribution"), choice, width,
                                    height > now ? height - now : 0)) {
    body.push_back(std::move(line));
  }
  TopScreen screen = filled_up(std::move(body), std::move(foot), width, height);
  screen.gpu_rows = rows.gpus;
  screen.first_gpu_line = first;
  if (rows.chosen != nullptr) screen.chosen_gpu = text_of(*rows.chosen, "uuid");
  return screen;
}

std::string plain_text(const TopScreen& screen) {
  std::string text;
  for (const TopLine& line : screen.lines) {
    for (const TopSpan& span : line) text += span.text;
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace stoker::api
