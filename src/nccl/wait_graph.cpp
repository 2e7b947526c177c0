#include "nccl/wait_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace stoker::nccl {
namespace {

using Waits = std::map<int, std::vector<const Wait*>>;  // by who waits

const Dump* dump_of(int rank, const Job& job, const Facts& facts) {
  for (const auto index : job.dumps) {
    if (facts.dumps[index].rank == rank) return &facts.dumps[index];
  }
  return nullptr;
}

std::int64_t issued_by(const Dump& dump, const Transfers& other) {
  for (const auto& each : dump.transfers) {
    const bool pair = each.from == other.from && each.to == other.to && each.group == other.group;
    if (pair && each.receives != other.receives) return each.issued;
  }
  return 0;
}

Place place_of(const Dump& dump, int rank, const Transfers& of, std::int64_t issued,
               bool receives) {
  Place place{.file = dump.file};
  place.text =
      fmt::format("rank {}: {} {} {} rank {} issued", rank, issued, receives ? "receives" : "sends",
                  receives ? "from" : "to", receives ? of.from : of.to);
  return place;
}

// What `mine`, of `dump`, waits for; nullopt: the other side has issued its part.
std::optional<Wait> wait_in(const Transfers& mine, const Dump& dump, const Job& job,
                            const Facts& facts) {
  if (!mine.waits || !dump.whole || mine.from == mine.to) return std::nullopt;
  Wait wait{.rank = mine.receives ? mine.to : mine.from,
            .others = {mine.receives ? mine.from : mine.to},
            .transfer = true};
  const int other = *wait.others.begin();
  const auto* theirs = dump_of(other, job, facts);
  const auto what = fmt::format("rank {} waits in {} #{} {} rank {}", wait.rank,
                                mine.receives ? "receive" : "send", mine.issued,
                                mine.receives ? "from" : "to", other);
  wait.evidence.push_back(place_of(dump, wait.rank, mine, mine.issued, mine.receives));
  // A send or receive of a batch never says that it is done: only a count that differs tells.
  if (theirs == nullptr || !theirs->whole) return std::nullopt;
  const auto issued = issued_by(*theirs, mine);
  if (issued >= mine.issued) return std::nullopt;
  wait.confidence = Confidence::likely;
  wait.text =
      fmt::format("{}, which has issued {} {}", what, issued == 0 ? "no" : std::to_string(issued),
                  fmt::format("{}{}", mine.receives ? "send" : "receive", issued == 1 ? "" : "s"));
  wait.evidence.push_back(place_of(*theirs, other, mine, issued, !mine.receives));
  return wait;
}

// Of the groups that `source` tells of: who has not called what others wait in.
std::vector<Wait> group_waits(const std::vector<GroupStates>& groups, StateSource source) {
  std::vector<Wait> waits;
  for (const auto& group : groups) {
    if (group.source != source) continue;
    const auto behind = behind_in(group);
    if (!behind) continue;
    for (const auto rank : behind->waiting) {
      Wait wait{.rank = rank, .others = {behind->missing.begin(), behind->missing.end()}};
      wait.text = fmt::format("rank {} waits in {} of group {} for {}", rank, behind->what,
                              group.name, rank_list(behind->missing));
      if (source == StateSource::ras)
        wait.confidence = group.answers < 2 ? Confidence::possible : Confidence::likely;
      const auto state = group.ranks.find(rank);
      if (state != group.ranks.end()) {
        Place place = state->second.place;
        place.text = wait.text;
        wait.evidence.push_back(std::move(place));
      }
      waits.push_back(std::move(wait));
    }
  }
  return waits;
}

// Those who wait in a collective of which nobody says that he has not called it: for whom, is not known.
std::set<int> waiting_somewhere(const std::vector<GroupStates>& groups) {
  std::set<int> ranks;
  for (const auto& group : groups) {
    if (group.source != StateSource::dump || behind_in(group)) continue;
    const auto waiting = waiting_in(group);
    ranks.insert(waiting.begin(), waiting.end());
  }
  return ranks;
}

// Those who are waited for, from `rank` on, and wait for nobody.
void add_roots(int rank, const Waits& waits, std::set<int>& seen, std::set<int>& roots) {
  std::vector<int> open = {rank};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    const auto own = waits.find(at);
    if (own == waits.end()) {
      roots.insert(at);
      continue;
    }
    for (const auto* wait : own->second)
      open.insert(open.end(), wait->others.begin(), wait->others.end());
  }
}

// Ranks that wait for one another in a ring, from whoever is there.
std::vector<const Wait*> ring_in(const Waits& waits) {
  std::vector<const Wait*> path;
  std::map<int, std::size_t> at;
  int rank = waits.begin()->first;
  while (!at.contains(rank)) {
    at[rank] = path.size();
    const auto* wait = waits.at(rank).front();
    path.push_back(wait);
    rank = *wait->others.begin();
  }
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(at[rank]));
  return path;
}

StateVerdict ordered_otherwise(const Waits& waits, StateSource source) {
  StateVerdict verdict{.verdict = Class::collective_mismatch, .confidence = Confidence::certain};
  verdict.source = source;
  std::string told;
  for (const auto* wait : ring_in(waits)) {
    verdict.ranks.push_back(wait->rank);
    verdict.confidence = std::min(verdict.confidence, wait->confidence);
    if (told.size() < 400) told += fmt::format("{}{}", told.empty() ? "" : "; ", wait->text);
    if (verdict.evidence.size() < 6 && !wait->evidence.empty())
      verdict.evidence.push_back(wait->evidence.front());
  }
  std::ranges::sort(verdict.ranks);
  verdict.why = fmt::format(
      "they wait for each other, as where calls are made in a different order: {}", told);
  return verdict;
}

Waits by_who_waits(const std::vector<Wait>& all) {
  Waits waits;
  for (const auto& wait : all) waits[wait.rank].push_back(&wait);
  return waits;
}

std::set<int> roots_of(const Waits& waits) {
  std::set<int> seen;
  std::set<int> roots;
  for (const auto& [rank, own] : waits) add_roots(rank, waits, seen, roots);
  return roots;
}

// Answers are of another moment than dumps, so the two make no ring together.
std::optional<StateVerdict> ring_of_answers(const std::vector<GroupStates>& groups) {
  const auto all = group_waits(groups, StateSource::ras);
  const Waits waits = by_who_waits(all);
  if (waits.empty() || !roots_of(waits).empty()) return std::nullopt;
  return ordered_otherwise(waits, StateSource::ras);
}

}  // namespace

std::vector<Wait> transfer_waits(const Job& job, const Facts& facts) {
  std::vector<Wait> waits;
  for (const auto index : job.dumps) {
    for (const auto& each : facts.dumps[index].transfers) {
      if (auto wait = wait_in(each, facts.dumps[index], job, facts))
        waits.push_back(*std::move(wait));
    }
  }
  return waits;
}

void settle_transfers(StateVerdict& verdict, const Job& job, const Facts& facts) {
  if (verdict.verdict != Class::missing_rank) return;
  std::vector<int> waiting;
  for (const auto rank : verdict.ranks) {
    const auto* dump = dump_of(rank, job, facts);
    if (dump != nullptr && dump->ends_in_transfer) waiting.push_back(rank);
  }
  if (waiting.empty()) return;
  verdict.confidence = std::min(verdict.confidence, Confidence::possible);
  verdict.why += fmt::format("; {} may wait in a send or receive, which its dump ends with",
                             rank_list(waiting));
}

std::optional<StateVerdict> judge_graph(const std::vector<GroupStates>& groups,
                                        const std::vector<Wait>& transfers) {
  auto all = group_waits(groups, StateSource::dump);
  all.insert(all.end(), transfers.begin(), transfers.end());
  const Waits waits = by_who_waits(all);
  if (waits.empty()) return ring_of_answers(groups);
  auto roots = roots_of(waits);
  if (roots.empty()) return ordered_otherwise(waits, StateSource::dump);
  if (transfers.empty()) return std::nullopt;
  for (const auto rank : waiting_somewhere(groups)) roots.erase(rank);
  if (roots.empty()) return std::nullopt;
  StateVerdict verdict{.verdict = Class::missing_rank, .confidence = Confidence::certain};
  verdict.source = StateSource::dump;
  verdict.ranks.assign(roots.begin(), roots.end());
  for (const auto& wait : all) {
    const bool direct =
        std::ranges::any_of(wait.others, [&](int rank) { return roots.contains(rank); });
    if (!direct) continue;
    verdict.confidence = std::min(verdict.confidence, wait.confidence);
    if (verdict.why.size() < 400)
      verdict.why += fmt::format("{}{}", verdict.why.empty() ? "" : "; ", wait.text);
    for (const auto& place : wait.evidence) {
      if (verdict.evidence.size() < 6) verdict.evidence.push_back(place);
    }
  }
  return verdict;
}

}  // namespace stoker::nccl
