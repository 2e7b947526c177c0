// NCCL's RAS text, as ras/client_support.cc writes it since 2.24 (read at 2.24.3 and 2.30.7).
#include <algorithm>

#include "nccl/readers.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

bool begins_answer(std::string_view text) {
  return text == "Job summary" || text.starts_with("SERVER PROTOCOL ") ||
         (text.starts_with("NCCL version ") && contains(text, " compiled with CUDA "));
}

}  // namespace

GroupStates& RasTextReader::group() {
  if (answer_.groups.empty()) answer_.groups.push_back({.name = "?", .source = StateSource::ras});
  return answer_.groups.back();
}

// "Rank 0 has launched up to operation 15 -- GPU 0 managed by process 669 on node 192.0.2.2"
void RasTextReader::read_rank(std::string_view text, const Place& place) {
  const auto rank = number_behind<int>(text, "Rank ");
  if (!rank || *rank < 0 || *rank > 10000000) return;
  RankState state;
  state.host = word_behind(text, " on node ", " \t");
  state.pid = number_behind<std::uint32_t>(text, "managed by process ").value_or(0);
  state.place = place;
  state.entered = number_behind(text, "launched up to operation ");
  if (!state.entered && contains(text, "has not launched any operations")) state.entered = 0;
  if (!state.entered) state.entered = shared_;
  auto& states = group();
  if (gone_) {
    states.gone.insert(*rank);
    state.entered.reset();
  }
  states.ranks[*rank] = std::move(state);
}

// "#0-0 (0d94ee3f5c044281) MISMATCH", "DEAD", "INCOMPLETE"
void RasTextReader::read_heading(std::string_view text) {
  gone_ = text.ends_with("INCOMPLETE") || text == "DEAD";
  shared_.reset();
  const auto hash = word_behind(text, "(", ")");
  const auto known = std::find_if(answer_.groups.begin(), answer_.groups.end(),
                                  [&](const GroupStates& each) { return each.name == hash; });
  if (known != answer_.groups.end()) {
    std::rotate(known, known + 1, answer_.groups.end());
  } else if (answer_.groups.size() < 4096 && text.starts_with('#')) {
    answer_.groups.push_back({.name = std::string(hash), .source = StateSource::ras});
  }
}

bool RasTextReader::read(std::string_view text, const Place& place) {
  if (begins_answer(text)) {
    if (open_ && (text == "Job summary" || text.starts_with("NCCL version")))
      return true;  // of the same answer
    finish();
    open_ = true;
    answer_ = {.file = place.file,
               .line = place.line,
               .nccl_version = std::string(word_behind(text, "NCCL version "))};
    return true;
  }
  if (!open_) return false;
  if (text.starts_with("Errors") || text.starts_with("Warnings")) {
    trouble_ = true;
    gone_ = false;
    answer_.whole = text.starts_with("Warnings");
    return true;
  }
  if (!trouble_) return true;
  const auto said = trimmed(text);
  if (said.empty() || said.starts_with("===")) return true;
  if (answer_.said.size() < 200) answer_.said.push_back(shown(said));
  if (text.starts_with('#') || text == "DEAD" || text == "INCOMPLETE" || text == "TIMEOUT") {
    read_heading(text);
    return true;
  }
  if (contains(said, " operation counts")) {
    // Each operation is counted alone: the ranks of another one belong to a group of its own.
    const auto name = word_behind(said, "different ");
    if (!group().counted.empty()) {
      answer_.groups.push_back(
          {.name = group().name, .source = StateSource::ras, .size = group().size});
    }
    group().counted = name;
    shared_.reset();
  } else if (const auto many = number_behind(said, ""); many && contains(said, " ranks have ")) {
    shared_ =
        contains(said, "not launched any") ? 0 : number_behind(said, "launched up to operation ");
    if (shared_) {
      const auto ranks = static_cast<int>(std::clamp<std::int64_t>(*many, 0, most_ranks));
      auto& states = group();
      states.size = std::min(states.size + ranks, most_ranks);
      states.counts[*shared_] += ranks;
    }
  } else if (said.starts_with("Rank ")) {
    if (!gone_ && !shared_ && contains(said, "aunched"))
      group().size = std::min(group().size + 1, most_ranks);
    read_rank(said, place);
  } else if (!text.starts_with(' ') && !said.starts_with("Process ")) {
    finish();  // the answer is over, and the log goes on
    return false;
  }
  return true;
}

void RasTextReader::finish() {
  if (open_ && (answer_.whole || !answer_.groups.empty())) facts_.ras.push_back(std::move(answer_));
  answer_ = {};
  open_ = trouble_ = gone_ = false;
  shared_.reset();
}

}  // namespace stoker::nccl
