// Watchdog lines, dumps, RAS answers and logged calls, brought into one form.
#include <algorithm>

#include "nccl/states.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

// "0(default_pg)" -> "0": dumps name a group without its description.
std::string plain_group(std::string_view group) {
  return std::string(group.substr(0, group.find('(')));
}

bool is_world(std::string_view group) {
  return group.empty() || group == "0" || contains(group, "default_pg") || group == "PG 0" ||
         group == "PG ID 0";
}

void add_watch(const Watch& watch, GroupStates& group) {
  RankState& state = group.ranks[watch.rank];
  if (state.place.text.empty()) state.place = watch.place;
  if (watch.enqueued) {
    state.entered = std::max(state.entered.value_or(0), *watch.enqueued);
    if (!watch.timed_out) state.place = watch.place;  // its own word on where it stands
  }
  if (watch.completed) state.completed = std::max(state.completed.value_or(0), *watch.completed);
  if (!watch.timed_out) return;
  state.entered = std::max(state.entered.value_or(0), *watch.timed_out);
  // The oldest is what it waits in; later ones wait behind it.
  if (!state.timed_out || *watch.timed_out < *state.timed_out) state.timed_out = watch.timed_out;
  if (watch.op.name.empty()) return;
  if (state.ops.try_emplace(*watch.timed_out, watch.op).second) state.call = watch.place;
  if (watch.place.when) {
    const double since = *watch.place.when - watch.ran_seconds;
    if (!state.since || since < *state.since) state.since = since;
  }
}

// The line that tells of the timeout has no group in it; the one after it, of the same rank and number, has.
std::map<std::string, GroupStates> of_watches(const Job& job, const Facts& facts) {
  std::map<std::string, GroupStates> groups;
  std::map<std::pair<int, std::int64_t>, std::string> named;
  std::string only;
  bool several = false;
  for (const auto index : job.watches) {
    const auto& watch = facts.watches[index];
    if (watch.group.empty()) continue;
    const auto name = plain_group(watch.group);
    if (watch.timed_out) named.try_emplace({watch.rank, *watch.timed_out}, name);
    several = several || (!only.empty() && only != name);
    only = name;
  }
  for (const auto index : job.watches) {
    const auto& watch = facts.watches[index];
    std::string name = plain_group(watch.group);
    if (name.empty() && watch.timed_out) {
      const auto found = named.find({watch.rank, *watch.timed_out});
      if (found != named.end())
        name = found->second;
      else if (!several)
        name = only;
    }
    GroupStates& group = groups[name];
    group.name = name;
    add_watch(watch, group);
  }
  for (auto& [name, group] : groups) {
    // A log that shows a smaller communicator alone says nothing of the world.
    if (!group.ranks.empty() && group.ranks.rbegin()->first >= job.size) continue;
    if ((is_world(name) || (groups.size() == 1 && name.empty())) && job.size > 0) {
      group.size = job.size;
      // Where fewer than half of them speak, who is silent tells nothing.
      const int told = 2 * std::ssize(group.ranks) >= job.size ? job.size : 0;
      group.members.reserve(static_cast<std::size_t>(told));
      for (int rank = 0; rank < told; ++rank) group.members.push_back(rank);
    }
  }
  return groups;
}

// How many ranks a gathering or scattering collective joins shows in its two sizes.
void learn_size(GroupStates& group) {
  if (group.size > 0) return;
  for (const auto& [rank, state] : group.ranks) {
    for (const auto& [number, op] : state.ops) {
      const bool gather = contains(op.name, "ALLGATHER");
      const bool scatter = contains(op.name, "REDUCE_SCATTER");
      const auto small = gather ? op.in : op.out;
      const auto large = gather ? op.out : op.in;
      if ((!gather && !scatter) || small <= 0 || large % small != 0) continue;
      group.size = static_cast<int>(std::min<std::int64_t>(large / small, most_ranks));
      return;
    }
  }
}

void add_dumps(const Job& job, const Facts& facts, std::vector<GroupStates>& out) {
  std::map<std::string, GroupStates> groups;
  for (const auto index : job.dumps) {
    const auto& dump = facts.dumps[index];
    if (!dump.rank) continue;
    for (const auto& [name, group] : dump.groups) {
      auto& into = groups[name];
      if (into.name.empty()) {
        into.name = name;
        into.source = StateSource::dump;
      }
      if (into.members.empty()) {
        into.members = group.members;
        into.size = group.size;
      }
      for (const auto& [rank, state] : group.ranks) {
        if (state.entered || state.completed) into.ranks[rank] = state;
      }
    }
  }
  for (auto& [name, group] : groups) out.push_back(std::move(group));
}

// Calls that NCCL logs (NCCL_DEBUG_SUBSYS=COLL). Since 2.27 a communicator within one node does not count (NVIDIA/nccl#2021).
void add_calls(const Job& job, const Facts& facts, std::vector<GroupStates>& out) {
  std::map<std::uint64_t, GroupStates> groups;
  for (const auto index : job.processes) {
    const auto& process = facts.processes[index];
    for (const auto& comm : process.comms) {
      const auto calls = process.calls.find(comm.pointer);
      if (calls == process.calls.end() || comm.id == 0 || calls->second.rbegin()->first == 0)
        continue;
      auto& group = groups[comm.id];
      group.name = "calls";
      group.size = comm.size;
      auto& state = group.ranks[comm.rank];
      state.place = process.last;
      for (const auto& [number, op] : calls->second)
        state.ops[static_cast<std::int64_t>(number)] = op;
      state.entered = static_cast<std::int64_t>(calls->second.rbegin()->first);
    }
  }
  for (auto& [id, group] : groups) out.push_back(std::move(group));
}

// Between two answers, of the same operation.
bool all_called_more(const GroupStates& before, const GroupStates& after) {
  if (after.ranks.empty()) return false;
  return std::all_of(after.ranks.begin(), after.ranks.end(), [&](const auto& each) {
    const auto old = before.ranks.find(each.first);
    return old != before.ranks.end() && old->second.entered && each.second.entered &&
           *each.second.entered > *old->second.entered;
  });
}

}  // namespace

std::vector<GroupStates> group_states(const Job& job, const Facts& facts) {
  std::vector<GroupStates> out;
  add_dumps(job, facts, out);
  for (auto& [name, group] : of_watches(job, facts)) {
    learn_size(group);
    out.push_back(std::move(group));
  }
  for (const auto index : job.ras) {
    // Several answers of one communicator: the last one counts.
    for (const auto& group : facts.ras[index].groups) {
      const auto same = std::find_if(out.begin(), out.end(), [&](const GroupStates& each) {
        return each.source == StateSource::ras && each.counted == group.counted &&
               hex_behind(each.name, "") == hex_behind(group.name, "");
      });
      if (same == out.end()) {
        out.push_back(group);
        continue;
      }
      const bool moved = all_called_more(*same, group);
      const int answers = same->answers + 1;
      *same = group;
      same->moved = moved;
      same->answers = answers;
    }
  }
  add_calls(job, facts, out);
  return out;
}

}  // namespace stoker::nccl
