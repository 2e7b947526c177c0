// Edge: the screen of `stoker top`, from the API's documents. Pure: documents, what the user chose and
// the size of the terminal in, lines of text out; apps/stoker/top_terminal.cpp puts them on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace stoker::api {

enum class TopStyle : std::uint8_t { plain, title, good, warning, bad, dim, chosen };

struct TopSpan {
  std::string text;
  TopStyle style = TopStyle::plain;
};
using TopLine = std::vector<TopSpan>;

enum class ProcessOrder : std::uint8_t { gpu, memory, pid, name, owner, count_ };
enum class GpuOrder : std::uint8_t { index, utilization, power, temperature, memory, count_ };
const char* to_string(ProcessOrder order);
const char* to_string(GpuOrder order);

// What the user chose.
struct TopChoice {
  std::size_t row = 0;    // of the list of GPUs, counted from the top
  std::size_t graph = 0;  // which of top_graphs()
  ProcessOrder processes = ProcessOrder::gpu;
  GpuOrder gpus = GpuOrder::index;
  std::string filter;   // processes that have this in name, pid, user, pod, container or job
  bool typing = false;  // the filter is being typed
  bool help = false;
  bool paused = false;
  bool unicode = true;
};

// The fields whose history may be drawn, by the names of `stoker history`.
const std::vector<std::string>& top_graphs();

// What the agent answered; `problem` is set instead where it did not.
struct TopDocuments {
  std::string status;
  std::string gpus;
  std::string history;  // of the chosen GPU and graph; may be empty
  std::string problem;
};

struct TopScreen {
  std::vector<TopLine> lines;  // `height` of them, none wider than `width`
  std::size_t gpu_rows = 0;    // how many GPUs there are to choose from
  std::size_t first_gpu_line = 0;
  std::string chosen_gpu;  // its UUID, for the next question about its history
};

// At least 40 x 10; smaller terminals get one line that says so.
Result<TopScreen> top_screen(const TopDocuments& documents, const TopChoice& choice,
                             std::size_t width, std::size_t height);

// The lines without their styles, for tests.
std::string plain_text(const TopScreen& screen);

}  // namespace stoker::api
