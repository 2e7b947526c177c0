#include <fmt/format.h>

#include <algorithm>

#include "nccl/candidate.h"
#include "nccl/wait_graph.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

const char* next_step_of(const StateVerdict& verdict) {
  switch (verdict.verdict) {
    case Class::missing_rank:
      return "look at that rank's process while it hangs: py-spy dump --pid PID, its GPU's "
             "utilisation (0 % where it is not in "
             "NCCL), its own output; it may still load data, save, or be stuck on the host";
    case Class::collective_mismatch:
      return "compare what these ranks do differently just before that call: a branch, an uneven "
             "last batch, a parameter that "
             "one rank does not use, groups that they call in another order";
    case Class::dead_rank:
      return "see on that host whether the process is there, and in its output and dmesg how it "
             "ended";
    case Class::slow_work:
      return "see which rank does more work on the host there (checkpoint, evaluation, data), and "
             "give that barrier a timeout "
             "of its own";
    default:
      return "while it hangs: stoker nccl --ras HOST:28028 on one host; otherwise "
             "TORCH_FR_BUFFER_SIZE=2000 and "
             "TORCH_NCCL_DUMP_ON_TIMEOUT=1, and give the dumps of all ranks to this command";
  }
}

const char* source_of(StateSource source) {
  switch (source) {
    case StateSource::log: return "torch's watchdog (ProcessGroupNCCL)";
    case StateSource::dump: return "torch's flight recorder";
    case StateSource::ras: return "NCCL's RAS";
  }
  return "";
}

void add_desyncs(const Job& job, const Facts& facts, std::vector<Candidate>& out) {
  if (job.desyncs.empty()) return;
  Candidate candidate{.tier = Tier::waiting,
                      .verdict = Class::missing_rank,
                      .confidence = Confidence::certain,
                      .rule = "desync"};
  for (const auto index : job.desyncs) {
    const auto& report = facts.desyncs[index];
    candidate.ranks.insert(report.ranks.begin(), report.ranks.end());
    if (candidate.evidence.size() < 3) candidate.evidence.push_back(report.place);
  }
  candidate.why = fmt::format(
      "torch's own report says that {} did not join the collective that the others wait in",
      rank_list({candidate.ranks.begin(), candidate.ranks.end()}));
  candidate.next_step = next_step_of({.verdict = Class::missing_rank});
  candidate.source = "torch, TORCH_NCCL_DESYNC_DEBUG";
  out.push_back(std::move(candidate));
}

void add_states(const Job& job, const Facts& facts, std::vector<Candidate>& out) {
  const auto groups = group_states(job, facts);
  auto judged = judge_graph(groups, transfer_waits(job, facts));
  if (!judged) {
    judged = judge_states(groups, job);
    if (judged) settle_transfers(*judged, job, facts);
  }
  if (!judged) return;
  Candidate candidate{.tier = Tier::waiting,
                      .verdict = judged->verdict,
                      .confidence = judged->confidence,
                      .rule = "waiting"};
  if (judged->verdict == Class::unknown || judged->verdict == Class::slow_work)
    candidate.tier = Tier::left;
  candidate.ranks.insert(judged->ranks.begin(), judged->ranks.end());
  candidate.why = judged->why;
  candidate.next_step = next_step_of(*judged);
  candidate.source = source_of(judged->source);
  candidate.evidence = judged->evidence;
  // RAS names hosts where no log does.
  for (const auto& group : groups) {
    if (group.source != StateSource::ras) continue;
    for (const auto rank : judged->ranks) {
      const auto state = group.ranks.find(rank);
      if (state != group.ranks.end() && !state->second.host.empty())
        candidate.hosts.insert(state->second.host);
    }
  }
  out.push_back(std::move(candidate));
}

// Of ranks 0 to size-1, those that are not in `ranks`, which are in order.
std::vector<int> others_than(const std::vector<int>& ranks, int size) {
  std::vector<int> others;
  auto at = ranks.begin();
  for (int rank = 0; rank < size; ++rank) {
    if (at != ranks.end() && *at == rank)
      ++at;
    else
      others.push_back(rank);
  }
  return others;
}

// A communicator that some ranks never began to make, or that nobody finished.
void add_start(const Job& job, const Facts& facts, std::vector<Candidate>& out) {
  if (job.size < 2) return;
  std::vector<int> here;
  std::vector<int> begun;
  for (const auto& [rank, info] : job.ranks) {
    if (rank < 0 || rank >= job.size || !info.process) continue;
    here.push_back(rank);
    if (!info.complete) begun.push_back(rank);
  }
  if (begun.empty()) return;
  Candidate candidate{.tier = Tier::start,
                      .verdict = Class::unknown,
                      .confidence = Confidence::possible,
                      .rule = "start"};
  // Where nobody has finished, one that never came holds them; where somebody has, everybody came.
  const bool nobody = std::none_of(job.ranks.begin(), job.ranks.end(),
                                   [](const auto& each) { return each.second.complete; });
  if (nobody && std::ssize(here) < job.size && 2 * std::ssize(here) >= job.size) {
    const auto absent = others_than(here, job.size);
    candidate.verdict = Class::missing_rank;
    candidate.ranks.insert(absent.begin(), absent.end());
    candidate.why =
        fmt::format("{} began to make the communicator of {} ranks, and of {} there is no line",
                    rank_list(begun), job.size, rank_list(absent));
    candidate.next_step =
        "see whether that rank's process runs, and whether its log is here; it has to reach the "
        "address that rank 0 chose";
  } else {
    candidate.why = fmt::format("{} began to make a communicator of {} ranks and did not finish",
                                rank_list(begun), job.size);
    candidate.next_step =
        "NCCL_DEBUG=INFO on all ranks; check that the hosts reach each other on the interface "
        "after \"Bootstrap: Using\"";
    if (begun.size() < job.ranks.size()) candidate.ranks.insert(begun.begin(), begun.end());
  }
  candidate.source = "NCCL init: Init START without Init COMPLETE";
  for (const auto rank : begun) {
    if (candidate.evidence.size() >= 4) break;
    for (const auto& comm : facts.processes[*job.ranks.at(rank).process].comms) {
      if (comm.rank == rank && comm.size == job.size) candidate.evidence.push_back(comm.place);
    }
  }
  out.push_back(std::move(candidate));
}

}  // namespace

std::vector<Candidate> waits_of(const Job& job, const Facts& facts) {
  std::vector<Candidate> out;
  add_desyncs(job, facts, out);
  add_states(job, facts, out);
  add_start(job, facts, out);
  return out;
}

}  // namespace stoker::nccl
