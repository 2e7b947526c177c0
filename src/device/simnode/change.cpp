#include "device/simnode/change.h"

#include <algorithm>

#include "base/closest.h"
#include "base/text.h"

namespace stoker::simnode {
namespace {

// The row of this function and GPU, else the first free one that is not in `taken`.
sim::Fault* fault_row(sim::State& state, std::uint32_t function, std::int32_t gpu,
                      const std::vector<sim::Fault*>& taken) {
  sim::Fault* free_row = nullptr;
  for (auto& row : state.faults) {
    if (row.used != 0) {
      if (row.function == function && row.gpu == gpu) return &row;
    } else if (free_row == nullptr && std::find(taken.begin(), taken.end(), &row) == taken.end()) {
      free_row = &row;
    }
  }
  return free_row;
}

}  // namespace

void for_each_gpu(Change& change, const std::function<void(sim::Gpu&, unsigned)>& apply) {
  for (const unsigned row : change.gpus) apply(change.state.gpus[row], row);
}

std::string gpu_words(const std::vector<unsigned>& gpus) {
  std::vector<std::string> words;
  words.reserve(gpus.size());
  for (const unsigned row : gpus) words.push_back(std::to_string(row));
  return (words.size() == 1 ? "GPU " : "GPUs ") + listed(words);
}

void add_event(sim::State& state, std::uint64_t type, std::uint64_t data, unsigned gpu) {
  const std::uint64_t sequence = state.last_event + 1;
  state.events[(sequence - 1) % sim::max_events] = {.sequence = sequence,
                                                    .type = type,
                                                    .data = data,
                                                    .gpu = gpu,
                                                    .gpu_instance = sim::no_instance,
                                                    .compute_instance = sim::no_instance};
  state.last_event = sequence;
}

Result<void> set_faults(Change& change, const sim::Fault& pattern) {
  std::vector<sim::Fault*> rows;
  for (const unsigned gpu : change.gpus) {
    sim::Fault* row = fault_row(change.state, pattern.function, static_cast<int>(gpu), rows);
    if (row == nullptr) {
      return fail(ErrorCode::unavailable,
                  "64 faults are active already; stoker sim clear takes some back");
    }
    rows.push_back(row);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    *rows[i] = pattern;
    rows[i]->used = 1;
    rows[i]->gpu = static_cast<std::int32_t>(change.gpus[i]);
  }
  return {};
}

Result<std::uint64_t> parse_number(std::string_view text, std::string_view what,
                                   std::uint64_t least, std::uint64_t most) {
  const auto value = whole_number<std::uint64_t>(text);
  if (!value || *value < least || *value > most) {
    return fail(ErrorCode::invalid_input,
                std::string(what) + " has to be a whole number from " + std::to_string(least) +
                    " to " + std::to_string(most) + ", not '" + std::string(text) + "'");
  }
  return *value;
}

}  // namespace stoker::simnode
