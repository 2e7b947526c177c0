#include <algorithm>

#include "nccl/readers.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

// "[PG ID 0 PG GUID 0(default_pg) Rank 3]", "[PG 1 Rank 3]", "[Rank 3]": which group, and which rank of it.
std::string group_in(std::string_view text) {
  if (const auto guid = word_behind(text, "PG GUID ", " ]"); !guid.empty())
    return std::string(guid);
  const auto at = text.find("[PG ");
  if (at == npos) return {};
  const auto inner = text.substr(at + 4, text.find(" Rank", at) - at - 4);
  return inner.size() < 40 ? std::string("PG ").append(inner) : std::string();
}

std::optional<int> rank_in(std::string_view text) {
  for (const auto* name : {"[Rank ", " Rank "}) {
    if (const auto rank = number_behind<int>(text, name)) return rank;
  }
  return std::nullopt;
}

// "[0, 2, 5] finished ...": the numbers in the brackets before `at`.
std::vector<int> list_before(std::string_view text, std::size_t at) {
  std::vector<int> ranks;
  const auto open = text.rfind('[', at);
  if (open == npos) return ranks;
  auto list = text.substr(open + 1, at - open - 1);
  while (!list.empty()) {
    const auto word = trimmed(list.substr(0, list.find(',')));
    if (const auto rank = whole_number<int>(word)) ranks.push_back(*rank);
    list.remove_prefix(
        std::min(list.find(',') == npos ? list.size() : list.find(',') + 1, list.size()));
  }
  return ranks;
}

bool read_timeout(std::string_view text, Watch& watch) {
  const auto at = text.find("WorkNCCL(");
  if (at == npos || !contains(text, "atchdog caught collective operation timeout")) return false;
  const auto work = text.substr(at);
  if (contains(work, ",")) watch.timed_out = number_behind(work, "SeqNum=");
  if (contains(word_behind(work, "OpType=", ")"), ","))
    watch.op.name = word_behind(work, "OpType=");
  const bool whole = contains(work, ")");  // people cut lines when they show them
  if (whole) watch.op.in = number_behind(work, "NumelIn=").value_or(-1);
  if (whole) watch.op.out = number_behind(work, "NumelOut=").value_or(-1);
  watch.ran_seconds = static_cast<double>(number_behind(work, "ran for ").value_or(0)) / 1000;
  return watch.timed_out.has_value();
}

// "last enqueued work: 15, last completed work: 14", with NCCL before "work" in some versions.
bool read_status(std::string_view text, Watch& watch) {
  const auto at = text.find("ast enqueued ");
  if (at == npos) return false;
  const auto rest = text.substr(at);
  const auto done = rest.find("last completed ");
  watch.enqueued = number_behind(rest.substr(0, 60), "work: ");
  if (done != npos) watch.completed = number_behind(rest.substr(done, 60), "work: ");
  for (const auto* name : {"at work sequence id: ", "at work: ", "at NCCL work: "}) {
    if (!watch.timed_out) watch.timed_out = number_behind(text.substr(0, at), name);
  }
  return watch.enqueued.has_value();
}

}  // namespace

bool TorchReader::read(const Line& line, const Place& place) {
  const auto text = line.text;
  if (line.cut && !text.empty() && is_digit(text.back())) return false;
  for (const auto* words : {"] finished collective #", "] joined but didn't finish collective #"}) {
    const auto at = text.find(words);
    if (at == npos || (words[2] == 'f' && !contains(text, "didn't join collective"))) continue;
    if (words[2] != 'f') return true;  // these wait
    auto ranks = list_before(text, at);
    if (!ranks.empty()) facts_.desyncs.push_back({std::move(ranks), place});
    return true;
  }
  if (const auto at = text.find("] are the lagging ranks that caused this timeout"); at != npos) {
    auto ranks = list_before(text, at);
    if (!ranks.empty()) facts_.desyncs.push_back({std::move(ranks), place});
    return true;
  }
  Watch watch;
  const bool timeout = read_timeout(text, watch);
  const bool status = read_status(text, watch);
  if (!timeout && !status) return false;
  const auto rank = line.rank ? line.rank : rank_in(text);
  if (!rank) return true;
  watch.rank = *rank;
  watch.group = group_in(text);
  watch.place = place;
  constexpr std::size_t most_watches = 200000;  // 512 ranks, each with many groups
  if (facts_.watches.size() < most_watches) facts_.watches.push_back(std::move(watch));
  return true;
}

}  // namespace stoker::nccl
