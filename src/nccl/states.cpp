#include "nccl/states.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "nccl/words.h"

namespace stoker::nccl {
namespace {

std::string lowered(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Collectives to which every rank brings the same; the others may differ by rank.
bool alike_by_rank(std::string_view name) {
  const auto word = lowered(name);
  for (const auto* other :
       {"alltoall", "all_to_all", "send", "recv", "coalesced", "gather_list", "scatter_list"}) {
    if (contains(word, other)) return false;
  }
  if (word == "gather" || word == "scatter" || word == "allgatherv") return false;
  return true;
}

// A barrier is an all-reduce of one element: what ranks wait in while one of them saves or evaluates.
bool is_barrier(const Op& op) {
  const auto word = lowered(op.name);
  return contains(word, "barrier") || op.in == 1;
}

struct Waiting {
  std::int64_t number = std::numeric_limits<std::int64_t>::max();
  std::vector<int> ranks;
  std::optional<double> since;
};

std::optional<std::int64_t> waits_in(const RankState& state) {
  if (state.timed_out) return state.timed_out;
  if (state.entered && state.completed && *state.entered > *state.completed)
    return *state.completed + 1;
  return std::nullopt;
}

// The oldest collective that somebody waits in, and who has called it.
Waiting waiting_of(const GroupStates& group) {
  Waiting waiting;
  for (const auto& [rank, state] : group.ranks) {
    const auto number = waits_in(state);
    if (!number) continue;
    waiting.number = std::min(waiting.number, *number);
    if (state.since && (!waiting.since || *state.since < *waiting.since))
      waiting.since = state.since;
  }
  for (const auto& [rank, state] : group.ranks) {
    if (waits_in(state) && state.entered.value_or(0) >= waiting.number)
      waiting.ranks.push_back(rank);
  }
  return waiting;
}

const Op* op_at(const RankState& state, std::int64_t number) {
  const auto found = state.ops.find(number);
  return found == state.ops.end() ? nullptr : &found->second;
}

std::string waiting_text(const GroupStates& group, const Waiting& waiting) {
  const Op* op = nullptr;
  for (const auto rank : waiting.ranks) {
    if (op == nullptr) op = op_at(group.ranks.at(rank), waiting.number);
  }
  const auto what = op == nullptr ? std::string("collective") : op_text(*op);
  return fmt::format("{} #{}", what, waiting.number);
}

void add_evidence(StateVerdict& verdict, const GroupStates& group, const std::vector<int>& ranks,
                  std::size_t most) {
  for (const auto rank : ranks) {
    const auto state = group.ranks.find(rank);
    if (state == group.ranks.end() || verdict.evidence.size() >= most) continue;
    const bool called = verdict.verdict == Class::collective_mismatch && state->second.call;
    Place place = called ? *state->second.call : state->second.place;
    if (place.text.empty()) {
      place.text =
          fmt::format("rank {}: called up to #{}, finished up to #{}", rank,
                      state->second.entered.value_or(0), state->second.completed.value_or(0));
    }
    verdict.evidence.push_back(std::move(place));
  }
}

// Those of `members` of which nothing is known.
std::vector<int> silent_members(const GroupStates& group) {
  std::vector<int> silent;
  for (const auto member : group.members) {
    if (!group.ranks.contains(member)) silent.push_back(member);
  }
  return silent;
}

bool has_silent(const GroupStates& group) {
  const bool uncounted = group.members.empty() && group.size > std::ssize(group.ranks);
  return uncounted || !silent_members(group).empty();
}

// Ranks that call something else, or with other sizes, than most do at `number`.
std::optional<StateVerdict> mismatch_at(const GroupStates& group, std::int64_t number) {
  std::map<std::string, std::vector<int>> by_call;
  bool names_differ = false;
  const Op* first = nullptr;
  std::size_t asked = 0;
  for (const auto& [rank, state] : group.ranks) {
    const Op* op = op_at(state, number);
    if (op == nullptr) continue;
    ++asked;
    if (first == nullptr) first = op;
    names_differ = names_differ || op->name != first->name;
    const bool alike = alike_by_rank(op->name);
    by_call[alike ? op_text(*op) + (group.source == StateSource::log ? "" : " " + op->detail)
                  : op->name]
        .push_back(rank);
  }
  if (by_call.size() < 2) return std::nullopt;
  auto most = by_call.begin();
  for (auto at = by_call.begin(); at != by_call.end(); ++at) {
    if (at->second.size() > most->second.size()) most = at;
  }
  StateVerdict verdict{.verdict = Class::collective_mismatch, .confidence = Confidence::certain};
  const bool majority = 2 * most->second.size() > asked;
  std::string others;
  for (const auto& [call, ranks] : by_call) {
    if (majority && call == most->first) continue;
    verdict.ranks.insert(verdict.ranks.end(), ranks.begin(), ranks.end());
    if (others.size() < 300)
      others += fmt::format("{}{} {} {}", others.empty() ? "" : ", ", rank_list(ranks),
                            ranks.size() == 1 ? "calls" : "call", call);
  }
  std::sort(verdict.ranks.begin(), verdict.ranks.end());
  verdict.why =
      majority ? fmt::format("as #{} {}, where {} {} {}", number, others, rank_list(most->second),
                             most->second.size() == 1 ? "calls" : "call", most->first)
               : fmt::format("as #{} {}", number, others);
  if (!majority) verdict.why += "; who is wrong can't be told by number";
  if (group.name.empty()) verdict.confidence = Confidence::likely;
  // Those who have not spoken yet may show which of two calls is the odd one.
  if (!majority && has_silent(group)) verdict.confidence = Confidence::possible;
  add_evidence(verdict, group, verdict.ranks, 4);
  if (majority) add_evidence(verdict, group, {most->second.front()}, 5);
  return verdict;
}

std::vector<int> ranks_behind(const GroupStates& group, const Waiting& waiting) {
  std::vector<int> behind;
  for (const auto& [rank, state] : group.ranks) {
    if (state.entered && *state.entered < waiting.number) behind.push_back(rank);
  }
  return behind;
}

StateVerdict missing(const GroupStates& group, const Waiting& waiting, std::vector<int> ranks,
                     Confidence confidence) {
  StateVerdict verdict{
      .verdict = Class::missing_rank, .confidence = confidence, .ranks = std::move(ranks)};
  verdict.why = fmt::format("{} never called {}, in which {} {}", rank_list(verdict.ranks),
                            waiting_text(group, waiting), rank_list(waiting.ranks),
                            waiting.ranks.size() == 1 ? "waits" : "wait");
  add_evidence(verdict, group, verdict.ranks, 4);
  add_evidence(verdict, group, waiting.ranks, 6);
  return verdict;
}

// All that are known of have called it: nobody is missing among them.
StateVerdict all_wait(const GroupStates& group, const Waiting& waiting) {
  StateVerdict verdict;
  const auto what = waiting_text(group, waiting);
  const bool all = group.size > 0 && std::ssize(waiting.ranks) >= group.size;
  const Op* op = op_at(group.ranks.at(waiting.ranks.front()), waiting.number);
  if (!all && op != nullptr && is_barrier(*op)) {
    verdict.verdict = Class::slow_work;
    verdict.confidence = Confidence::possible;
    verdict.why = fmt::format(
        "{} waited in {}, as at a barrier, longer than the timeout; the others' logs are not here "
        "or "
        "don't say where they were",
        rank_list(waiting.ranks), what);
  } else if (all) {
    verdict.why = fmt::format(
        "all {} ranks called {} alike and none finished it: a network, a GPU or NCCL itself stands "
        "still, which these lines don't tell apart",
        group.size, what);
  } else {
    verdict.why =
        fmt::format("{} {} in {}, alike; of other ranks nothing is known here",
                    rank_list(waiting.ranks), waiting.ranks.size() == 1 ? "waits" : "wait", what);
  }
  add_evidence(verdict, group, waiting.ranks, 4);
  return verdict;
}

// SEND, RECV, and the batches of them: torch's OpType.
bool is_transfer(const Op& op) {
  const auto word = lowered(op.name);
  return word == "send" || word == "recv" || word == "recvanysource" || word == "coalesced" ||
         contains(word, "batch_isend");
}

bool has_transfers(const GroupStates& group) {
  return std::ranges::any_of(group.ranks, [](const auto& each) {
    return std::ranges::any_of(each.second.ops,
                               [](const auto& op) { return is_transfer(op.second); });
  });
}

// A watchdog's numbers of sends and receives are those of one rank, and its line does not say with whom. Of two ranks it
// is the other.
StateVerdict judge_transfer(const GroupStates& group, const Waiting& waiting) {
  StateVerdict verdict{.verdict = Class::unknown, .confidence = Confidence::unknown};
  const auto one =
      fmt::format("{} {} in {}", rank_list(waiting.ranks),
                  waiting.ranks.size() == 1 ? "waits" : "wait", waiting_text(group, waiting));
  add_evidence(verdict, group, waiting.ranks, 4);
  if (group.members.size() == 2 && waiting.ranks.size() == 1) {
    for (const auto member : group.members) {
      if (member != waiting.ranks.front()) verdict.ranks.push_back(member);
    }
    verdict.verdict = Class::missing_rank;
    verdict.confidence = Confidence::likely;
    verdict.why = fmt::format("{}, and the only other rank, {}, does not wait in its part of it",
                              one, verdict.ranks.front());
    return verdict;
  }
  verdict.why = fmt::format(
      "{}; with whom, these lines don't tell, and each rank numbers its own sends and receives: "
      "the "
      "flight recorder's dumps of all ranks do",
      one);
  return verdict;
}

std::optional<StateVerdict> judge_waiting(const GroupStates& group, const Job& job) {
  const auto waiting = waiting_of(group);
  if (waiting.ranks.empty()) return std::nullopt;
  if (group.source == StateSource::log && has_transfers(group))
    return judge_transfer(group, waiting);
  auto behind = ranks_behind(group, waiting);
  if (!behind.empty()) return missing(group, waiting, std::move(behind), Confidence::certain);
  if (auto mismatch = mismatch_at(group, waiting.number)) return mismatch;
  auto silent = silent_members(group);
  if (!silent.empty() && 2 * silent.size() <= group.members.size() && group.members.size() > 1) {
    const bool here = std::all_of(silent.begin(), silent.end(),
                                  [&](int rank) { return job.ranks.contains(rank); });
    // Many silent ones may be only late to speak, in a log that still grows.
    const bool few = silent.size() == 1 || 8 * silent.size() <= group.members.size();
    auto verdict = missing(group, waiting, std::move(silent),
                           here && few ? Confidence::likely : Confidence::possible);
    verdict.why += here ? " (no watchdog line of its own)" : " (nothing of it is here)";
    return verdict;
  }
  return all_wait(group, waiting);
}

// Of what RAS counts, who has called less than others. RAS names the few; where these are ahead, it is the unnamed others
// that are behind.
std::optional<Behind> behind_in_answer(const GroupStates& group) {
  if (group.moved || !group.gone.empty()) return std::nullopt;
  std::int64_t top = -1;
  for (const auto& [rank, state] : group.ranks) top = std::max(top, state.entered.value_or(-1));
  for (const auto& [count, ranks] : group.counts) top = std::max(top, count);
  Behind behind;
  for (const auto& [rank, state] : group.ranks) {
    if (state.entered) (*state.entered < top ? behind.missing : behind.waiting).push_back(rank);
  }
  const bool others_behind = behind.missing.empty() && group.counts.size() > 1 &&
                             group.counts.begin()->first < top && !behind.waiting.empty();
  auto& others = others_behind ? behind.missing : behind.waiting;
  for (int rank = 0; others.empty() && rank < group.size; ++rank) {
    if (!group.ranks.contains(rank)) behind.unnamed.push_back(rank);
  }
  if (others.empty()) others = behind.unnamed;
  if (behind.missing.empty() || top < 0) return std::nullopt;
  behind.what = fmt::format("{} #{}", group.counted.empty() ? "collective" : group.counted, top);
  return behind;
}

// RAS counts calls, and tells neither which are finished nor what they are: in one answer a rank that is late for a moment
// looks like one that never comes.
std::optional<StateVerdict> judge_ras(const GroupStates& group) {
  StateVerdict verdict{.verdict = Class::missing_rank, .confidence = Confidence::likely};
  if (!group.gone.empty()) {
    verdict.verdict = Class::dead_rank;
    verdict.ranks.assign(group.gone.begin(), group.gone.end());
    verdict.why = fmt::format("the process of {} does not answer NCCL's RAS network",
                              rank_list(verdict.ranks));
    add_evidence(verdict, group, verdict.ranks, 6);
    return verdict;
  }
  const auto behind = behind_in_answer(group);
  if (!behind) return std::nullopt;
  verdict.ranks = behind->missing;
  if (group.answers < 2 || behind->missing == behind->unnamed)
    verdict.confidence = Confidence::possible;
  verdict.why = fmt::format(
      "{} {} not called {}, which {} {}{}", rank_list(verdict.ranks),
      verdict.ranks.size() == 1 ? "has" : "have", behind->what, rank_list(behind->waiting),
      behind->waiting.size() == 1 ? "has" : "have",
      group.answers < 2 ? " (in one answer, where a rank that is slow looks the same: ask twice)"
                        : fmt::format(", in {} answers", group.answers));
  add_evidence(verdict, group, verdict.ranks, 4);
  add_evidence(verdict, group, behind->waiting, 6);
  return verdict;
}

// NCCL's own list of calls: none says whether a call was finished, so that a rank that has fewer is only behind.
std::optional<StateVerdict> judge_calls(const GroupStates& group) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t top = -1;
  std::int64_t first = 0;
  for (const auto& [rank, state] : group.ranks) {
    least = std::min(least, *state.entered);
    top = std::max(top, *state.entered);
    first = std::max(first, state.ops.begin()->first);
  }
  for (auto number = first; number <= least; ++number) {
    if (auto mismatch = mismatch_at(group, number)) {
      mismatch->confidence = Confidence::likely;
      return mismatch;
    }
  }
  if (least == top || group.ranks.size() < 2) return std::nullopt;
  StateVerdict verdict{.verdict = Class::missing_rank, .confidence = Confidence::possible};
  for (const auto& [rank, state] : group.ranks) {
    if (*state.entered == least) verdict.ranks.push_back(rank);
  }
  if (2 * verdict.ranks.size() > group.ranks.size()) return std::nullopt;
  verdict.why = fmt::format("the log ends with {} at call #{}, where others are at #{}",
                            rank_list(verdict.ranks), least, top);
  add_evidence(verdict, group, verdict.ranks, 4);
  return verdict;
}

std::optional<StateVerdict> judge_group(const GroupStates& group, const Job& job) {
  if (group.source == StateSource::ras) return judge_ras(group);
  if (group.name == "calls" && group.source == StateSource::log) return judge_calls(group);
  return judge_waiting(group, job);
}

// Those of the missing that wait themselves, in another group, wait for others.
std::vector<int> waiting_elsewhere(const StateVerdict& verdict,
                                   const std::vector<GroupStates>& groups) {
  std::vector<int> found;
  for (const auto& group : groups) {
    if (group.name == verdict.group || group.source != verdict.source) continue;
    for (const auto rank : waiting_of(group).ranks) {
      const bool missing =
          std::find(verdict.ranks.begin(), verdict.ranks.end(), rank) != verdict.ranks.end();
      if (missing && std::find(found.begin(), found.end(), rank) == found.end())
        found.push_back(rank);
    }
  }
  return found;
}

void settle_waiting(StateVerdict& verdict, const std::vector<GroupStates>& groups) {
  const auto others = waiting_elsewhere(verdict, groups);
  if (verdict.verdict != Class::missing_rank || others.empty()) return;
  verdict.why += fmt::format("; {} {} in another group", rank_list(others),
                             others.size() == 1 ? "waits" : "wait");
  std::erase_if(verdict.ranks, [&](int rank) {
    return std::find(others.begin(), others.end(), rank) != others.end();
  });
  if (!verdict.ranks.empty()) return;
  verdict.confidence = Confidence::unknown;
  verdict.verdict = Class::unknown;
}

int weight(const StateVerdict& verdict) {
  const int decided = verdict.verdict == Class::unknown     ? 0
                      : verdict.verdict == Class::slow_work ? 1
                                                            : 2;
  return 10 * decided + static_cast<int>(verdict.confidence);
}

}  // namespace

std::optional<StateVerdict> judge_states(const std::vector<GroupStates>& groups, const Job& job) {
  std::vector<StateVerdict> verdicts;
  for (const auto& group : groups) {
    auto verdict = judge_group(group, job);
    if (!verdict) continue;
    verdict->group = group.name;
    verdict->source = group.source;
    verdict->since = waiting_of(group).since;
    verdicts.push_back(*std::move(verdict));
  }
  if (verdicts.empty()) return std::nullopt;
  for (auto& verdict : verdicts) settle_waiting(verdict, groups);
  return *std::max_element(verdicts.begin(), verdicts.end(),
                           [](const StateVerdict& a, const StateVerdict& b) {
                             if (weight(a) != weight(b)) return weight(a) < weight(b);
                             if (a.since && b.since) return *a.since > *b.since;
                             return false;
                           });
}

std::vector<int> waiting_in(const GroupStates& group) { return waiting_of(group).ranks; }

std::optional<Behind> behind_in(const GroupStates& group) {
  if (group.source == StateSource::ras) return behind_in_answer(group);
  const auto waiting = waiting_of(group);
  if (waiting.ranks.empty()) return std::nullopt;
  Behind behind{ranks_behind(group, waiting), waiting.ranks, {}, {}};
  if (behind.missing.empty()) return std::nullopt;
  behind.what = waiting_text(group, waiting);
  return behind;
}

std::string rank_list(const std::vector<int>& ranks) {
  std::vector<RankRange> ranges;
  for (const auto rank : ranks) {
    if (!ranges.empty() && std::int64_t{rank} - 1 == ranges.back().last)
      ranges.back().last = rank;
    else
      ranges.push_back({rank, rank});
  }
  return range_list(ranges);
}

std::string range_list(const std::vector<RankRange>& ranges) {
  if (ranges.empty()) return "no rank";
  const bool one = ranges.size() == 1 && ranges.front().first == ranges.front().last;
  std::string out = one ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto [first, last] = ranges[i];
    if (i > 0) out += ", ";
    out += std::to_string(first);
    if (last > first) out += fmt::format("{}{}", std::int64_t{last} - first > 1 ? "-" : ", ", last);
  }
  return out;
}

std::string op_text(const Op& op) {
  if (op.in < 0) return op.name;
  if (op.out < 0 || op.out == op.in)
    return fmt::format("{} of {} element{}", op.name, op.in, op.in == 1 ? "" : "s");
  return fmt::format("{} of {} to {} elements", op.name, op.in, op.out);
}

}  // namespace stoker::nccl
