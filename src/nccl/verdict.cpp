#include "nccl/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "nccl/candidate.h"
#include "nccl/kernel_time.h"
#include "nccl/trials.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

const Place* first_place(const Candidate& candidate) {
  return candidate.evidence.empty() ? nullptr : &candidate.evidence.front();
}

// Of two of one tier, the one that was said first: by its time where both have one, or by its line where one file has
// both. Otherwise the surer one.
bool goes_before(const Candidate& a, const Candidate& b) {
  if (a.tier != b.tier) return a.tier < b.tier;
  const auto* first = first_place(a);
  const auto* second = first_place(b);
  constexpr double clock_error = 2;  // seconds between hosts
  if (first != nullptr && second != nullptr && first->when && second->when &&
      std::abs(*first->when - *second->when) > clock_error) {
    return *first->when < *second->when;
  }
  if (a.confidence != b.confidence) return a.confidence > b.confidence;
  if (first != nullptr && second != nullptr && first->file == second->file)
    return first->line < second->line;
  return false;
}

// The chosen one, and behind it the others by tier and sureness. What was said first is no order that a sort may use:
// of three, two may have a time.
void put_chosen_first(std::vector<Candidate>& candidates) {
  if (candidates.empty()) return;
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (goes_before(candidates[i], candidates[chosen])) chosen = i;
  }
  std::vector<Candidate> sorted = {std::move(candidates[chosen])};
  candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(chosen));
  for (auto tier = Tier::hardware; tier <= Tier::start; tier = Tier(static_cast<int>(tier) + 1)) {
    for (auto sure = static_cast<int>(Confidence::certain); sure >= 0; --sure) {
      for (auto& each : candidates) {
        if (each.tier == tier && static_cast<int>(each.confidence) == sure)
          sorted.push_back(std::move(each));
      }
    }
  }
  candidates = std::move(sorted);
}

// An exception of a rank that nobody waits for, where it is known whom they wait for, is no cause.
void settle_exceptions(std::vector<Candidate>& candidates) {
  const auto waiting =
      std::find_if(candidates.begin(), candidates.end(), [](const Candidate& each) {
        return each.tier == Tier::waiting && !each.ranks.empty() &&
               each.confidence >= Confidence::likely;
      });
  if (waiting == candidates.end()) return;
  for (auto& each : candidates) {
    if (each.tier != Tier::program || each.ranks.empty()) continue;
    const bool shared = std::any_of(each.ranks.begin(), each.ranks.end(),
                                    [&](int rank) { return waiting->ranks.contains(rank); });
    if (!shared)
      each.tier = Tier::symptom;
    else
      each.confidence = Confidence::certain;
  }
}

Finding finding_of(const Candidate& candidate, bool chosen, const Facts& facts) {
  Finding finding;
  finding.rule = "nccl-" + candidate.rule;
  finding.severity = chosen ? Severity::error : Severity::warning;
  finding.entity.kind = EntityKind::job;
  finding.message = candidate.why;
  if (candidate.count > 1) finding.message += fmt::format(" ({} lines)", candidate.count);
  finding.fix = candidate.next_step;
  finding.source = candidate.source;
  if (const auto* place = first_place(candidate)) {
    finding.location = {.file = facts.files[place->file].name,
                        .line = static_cast<int>(place->line)};
  }
  for (const auto& place : candidate.evidence)
    finding.evidence.push_back(evidence_text(place, facts));
  return finding;
}

// Empty: nothing is known of it.
std::string row_of(int rank, const Job& job, const std::map<int, RankState>& states,
                   const Facts& facts) {
  std::string text;
  const auto info = job.ranks.find(rank);
  if (info != job.ranks.end()) {
    if (info->second.process) {
      const auto& process = facts.processes[*info->second.process];
      text += info->second.complete ? process.connected ? ", connected" : ", started"
                                    : ", never finished starting";
    }
  }
  const auto state = states.find(rank);
  if (state != states.end()) {
    if (state->second.entered) text += fmt::format(", called #{}", *state->second.entered);
    if (state->second.completed) text += fmt::format(", finished #{}", *state->second.completed);
  }
  return text.starts_with(", ") ? text.substr(2) : text;
}

std::string place_of(const std::vector<int>& ranks, const Job& job) {
  std::set<std::string> hosts;
  for (const auto rank : ranks) {
    const auto info = job.ranks.find(rank);
    if (info != job.ranks.end() && !info->second.host.empty()) hosts.insert(info->second.host);
  }
  if (hosts.empty()) return {};
  return hosts.size() == 1 ? " on " + *hosts.begin() : fmt::format(" on {} hosts", hosts.size());
}

// A job may say that it has a million ranks, and its files show one: those of which nothing is known are not gone through.
void add_matrix(const Job& job, const Facts& facts, Verdict& verdict) {
  // Of several groups, the one that tells of most ranks.
  std::map<int, RankState> states;
  for (auto& group : group_states(job, facts)) {
    if (group.ranks.size() > states.size()) states = std::move(group.ranks);
  }
  std::set<int> seen;
  for (const auto& [rank, info] : job.ranks) seen.insert(rank);
  for (const auto& [rank, state] : states) seen.insert(rank);
  std::map<std::string, std::vector<int>> alike;
  std::vector<RankRange> silent;
  int next = 0;
  for (const auto rank : seen) {
    const auto text = row_of(rank, job, states, facts);
    if (text.empty()) continue;
    if (next < std::min(rank, job.size)) silent.push_back({next, std::min(rank, job.size) - 1});
    next = std::max(next, rank + 1);
    alike[text].push_back(rank);
  }
  if (next < job.size) silent.push_back({next, job.size - 1});
  std::map<int, std::string> rows;  // by the first rank of each
  for (const auto& [text, ranks] : alike)
    rows[ranks.front()] = fmt::format("{}{}: {}", rank_list(ranks), place_of(ranks, job), text);
  if (!silent.empty())
    rows[silent.front().first] = fmt::format("{}: nothing known", range_list(silent));
  constexpr std::size_t most_rows = 40;
  for (const auto& [first, row] : rows) {
    if (verdict.matrix.size() < most_rows) verdict.matrix.push_back(row);
  }
  if (rows.size() > most_rows)
    verdict.matrix.push_back(fmt::format("and {} more kinds", rows.size() - most_rows));
}

void add_limits(const Job& job, const Facts& facts, Verdict& verdict) {
  std::size_t with_process = 0;
  for (const auto& [rank, info] : job.ranks) with_process += info.process ? 1 : 0;
  if (job.size > 0 && with_process > 0 && std::ssize(job.ranks) < job.size) {
    verdict.limits.push_back(
        fmt::format("lines of NCCL are here of {} of {} ranks", with_process, job.size));
  }
  if (job.size > 0 && !job.dumps.empty() && std::ssize(job.dumps) < job.size) {
    verdict.limits.push_back(
        fmt::format("dumps are here of {} of {} ranks", job.dumps.size(), job.size));
  }
  for (const auto file : job.files) {
    if (!facts.files[file].damage.empty())
      verdict.limits.push_back(
          fmt::format("{}: {}", facts.files[file].name, facts.files[file].damage));
  }
  if (facts.exits_left_out) {
    verdict.limits.push_back(
        fmt::format("the launchers name more processes that ended than the {} that are kept",
                    facts.exits.size()));
  }
  if (job.processes.empty() && job.dumps.empty() && job.ras.empty()) {
    verdict.limits.emplace_back(
        "no line of NCCL is here: NCCL_DEBUG=INFO (or at least WARN) would tell hosts, ranks and "
        "causes");
  }
}

void add_hosts(const Job& job, Verdict& verdict, std::set<std::string> hosts) {
  for (const auto rank : verdict.ranks) {
    const auto found = job.ranks.find(rank);
    if (found != job.ranks.end() && !found->second.host.empty()) hosts.insert(found->second.host);
  }
  verdict.hosts.assign(hosts.begin(), hosts.end());
}

// Dumps or RAS answers, and no rank is behind another.
void judge_equal(const Job& job, const Facts& facts, Verdict& verdict) {
  const auto groups = group_states(job, facts);
  bool compared = false;
  bool moved = false;
  for (const auto& group : groups) {
    compared = compared || group.ranks.size() > 1;
    moved = moved || group.moved;
  }
  // RAS's text lists only what differs.
  for (const auto index : job.ras) {
    compared = compared || (facts.ras[index].whole && facts.ras[index].said.empty());
  }
  verdict.next_step =
      "ask again after some seconds: ranks that all stand still at the same number hang too";
  if (moved) {
    verdict.verdict = Class::healthy;
    verdict.confidence = Confidence::likely;
    verdict.summary = "every rank called more collectives between two answers of RAS";
  } else if (compared && job.ras.size() < 2) {
    verdict.summary =
        "no rank is behind another, at the time when this was written: so it is with a job that "
        "goes "
        "on, and with one that stands still as a whole";
  } else if (compared) {
    verdict.summary =
        "no rank is behind another, and none called anything between two answers: the job computes "
        "for long, is idle, or stands still as a whole";
  } else {
    verdict.summary = "it holds too little to compare ranks";
  }
}

// Nothing failed, as far as is said: is that because all went well, or because nothing is said?
void judge_quiet(const Job& job, const Facts& facts, Verdict& verdict) {
  const bool effects = std::any_of(job.hits.begin(), job.hits.end(), [&](std::uint32_t index) {
    return facts.hits[index].sign->role == Role::effect &&
           facts.hits[index].sign->where == Where::warn;
  });
  const bool failed =
      effects || !job.exits.empty() || !job.watches.empty() ||
      std::any_of(job.exceptions.begin(), job.exceptions.end(), [](auto) { return true; });
  const auto up = std::count_if(job.ranks.begin(), job.ranks.end(),
                                [](const auto& each) { return each.second.complete; });
  const bool all_up = job.size > 0 && up == job.size;
  const bool destroyed =
      !job.processes.empty() &&
      std::all_of(job.processes.begin(), job.processes.end(), [&](std::uint32_t index) {
        const auto& comms = facts.processes[index].comms;
        return !comms.empty() && std::all_of(comms.begin(), comms.end(),
                                             [](const CommRank& comm) { return comm.destroyed; });
      });
  verdict.confidence = Confidence::unknown;
  if (failed) {
    verdict.summary = "ranks lost each other, and no line says which one ended first or why";
    verdict.next_step =
        "find the rank that ended first: its own output, its exit code, dmesg of its host (Xid, "
        "OOM killer); give all ranks' logs to this command";
  } else if (all_up && (destroyed || job.ends > 0)) {
    verdict.verdict = Class::healthy;
    verdict.confidence = Confidence::certain;
    verdict.summary =
        fmt::format("all {} ranks started, communicated and ended as they should", job.size);
  } else if (all_up && job.progress > 0) {
    verdict.verdict = Class::healthy;
    verdict.confidence = Confidence::likely;
    verdict.summary =
        fmt::format("all {} ranks started and went on; no line tells of a failure", job.size);
  } else if (all_up) {
    verdict.summary = fmt::format(
        "all {} ranks started; nothing shows whether they went on, and no line tells of a failure",
        job.size);
    verdict.next_step =
        "if it hangs: stoker nccl --ras HOST:28028, or flight recorder dumps "
        "(TORCH_FR_BUFFER_SIZE) of all ranks; a hang right after the start with GPUs at 100 % is "
        "often PCIe access control (ACS) or an IOMMU";
  } else if (!job.dumps.empty() || !job.ras.empty()) {
    judge_equal(job, facts, verdict);
  } else if (up > 0 && up < job.size) {
    verdict.summary = fmt::format(
        "{} of {} ranks started{}, and no line tells of a failure; of the others no such line is "
        "here",
        up, job.size, job.progress > 0 ? " and went on" : "");
    verdict.next_step = "give the logs of all ranks to this command";
  } else {
    verdict.summary = "nothing in these files tells of a failure of NCCL, or of a start";
    verdict.next_step =
        "run with NCCL_DEBUG=INFO; give the logs of all ranks, flight recorder dumps, or --ras "
        "HOST:28028";
  }
}

}  // namespace

Verdict judge_job(const Job& job, const Facts& facts) {
  auto candidates = causes_of(job, facts);
  for (auto& each : waits_of(job, facts)) candidates.push_back(std::move(each));
  settle_exceptions(candidates);
  put_chosen_first(candidates);
  Verdict verdict;
  verdict.size = job.size;
  verdict.told_by = job.told_by;
  for (const auto file : job.files) verdict.files.push_back(facts.files[file].name);
  // What an exception says that a job survived is no failure of it.
  const bool ended_well =
      job.ends > 0 && job.exits.empty() && job.watches.empty() && !candidates.empty();
  const bool survived = ended_well && (candidates.front().tier >= Tier::program ||
                                       candidates.front().rule.starts_with("kernel_"));
  if (candidates.empty() || survived) {
    judge_quiet(job, facts, verdict);
    add_hosts(job, verdict, {});
  } else {
    const Candidate& chosen = candidates.front();
    verdict.verdict = chosen.verdict;
    verdict.confidence = chosen.verdict == Class::unknown ? Confidence::unknown : chosen.confidence;
    verdict.ranks.assign(chosen.ranks.begin(), chosen.ranks.end());
    verdict.summary = chosen.why;
    verdict.next_step = chosen.next_step;
    const auto trials = trials_of(chosen.verdict, chosen.rule == "waiting", job, facts);
    if (!trials.empty()) verdict.next_step += "; " + trials;
    add_hosts(job, verdict, chosen.hosts);
  }
  for (std::size_t i = 0; i < candidates.size(); ++i)
    verdict.findings.push_back(finding_of(candidates[i], i == 0 && !survived, facts));
  for (auto& finding : notes_of(job, facts)) verdict.findings.push_back(std::move(finding));
  for (auto& finding : too_early(job, facts)) verdict.findings.push_back(std::move(finding));
  for (auto& finding : verdict.findings) {
    if (job.communicator != 0) finding.entity.id = fmt::format("0x{:x}", job.communicator);
  }
  add_matrix(job, facts, verdict);
  add_limits(job, facts, verdict);
  return verdict;
}

std::vector<Verdict> judge(const Facts& facts) {
  std::vector<Verdict> out;
  for (const auto& job : find_jobs(facts)) out.push_back(judge_job(job, facts));
  return out;
}

}  // namespace stoker::nccl
