#include "nccl/own_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "nccl/job.h"
#include "nccl/own_facts.h"
#include "nccl/states.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

// Does it list every rank, as JSON and no text does?
bool lists_all(const RasAnswer& answer) {
  return std::ranges::all_of(answer.groups, [](const GroupStates& group) {
    return group.size > 0 && std::ssize(group.ranks) >= group.size;
  });
}

bool is_numbered(const OwnJob& own, std::uint32_t pid) {
  return std::ranges::any_of(own.processes,
                             [&](const OwnProcess& each) { return each.calls_itself(pid); });
}

bool lists(const RasAnswer& answer, const OwnProcess& process) {
  return std::ranges::any_of(answer.groups, [&](const GroupStates& group) {
    return std::ranges::any_of(
        group.ranks, [&](const auto& rank) { return process.calls_itself(rank.second.pid); });
  });
}

// Is there a host of which every rank has the number of one of ours? RAS names hosts by an address that nobody here can
// compare.
bool has_host_of(const OwnJob& own, const RasAnswer& answer) {
  std::map<std::string_view, bool> by_host;
  for (const auto& group : answer.groups) {
    for (const auto& [rank, state] : group.ranks) {
      bool& all = by_host.try_emplace(state.host, true).first->second;
      all = all && is_numbered(own, state.pid);
    }
  }
  return std::ranges::any_of(by_host, [](const auto& host) { return host.second; });
}

// "process 4711, 4712 (9 for itself)": those of ours that it does not list.
std::string unlisted(const RasAnswer& answer, const OwnJob& own) {
  constexpr int most = 4;
  std::string text;
  int count = 0;
  for (const auto& process : own.processes) {
    if (process.pids.empty() || lists(answer, process) || ++count > most) continue;
    text += fmt::format("{}{}", text.empty() ? "process " : ", ", process.pids.front());
    if (process.pids.back() != process.pids.front())
      text += fmt::format(" ({} for itself)", process.pids.back());
  }
  return count > most ? fmt::format("{} and {} more", text, count - most) : text;
}

// By the numbers of processes, which two containers may have alike: where all ranks are listed, all of ours are among them, or
// at least nobody else is on one host. One of a job's processes that holds a GPU need not be a rank.
bool is_own(const RasAnswer& answer, const OwnJob& own) {
  const auto count = [&](const OwnProcess& process) { return lists(answer, process); };
  const auto found = std::ranges::count_if(own.processes, count);
  if (found == 0) return false;
  return found == std::ssize(own.processes) || !lists_all(answer) || has_host_of(own, answer);
}

// After keep_own_facts(): processes and answers of others are gone by now.
bool is_own(const Job& job, const OwnJob& own) {
  return !job.ras.empty() || !job.processes.empty() ||
         std::ranges::any_of(job.files,
                             [&](std::uint32_t file) { return own.files.contains(file); });
}

int sureness(const Verdict& verdict) {
  return (verdict.verdict == Class::unknown ? 0 : 10) + static_cast<int>(verdict.confidence);
}

std::string head_of(const Verdict& verdict) {
  std::string text = to_string(verdict.verdict);
  if (verdict.confidence != Confidence::unknown)
    text += fmt::format(" ({})", to_string(verdict.confidence));
  if (!verdict.ranks.empty()) text += fmt::format(", {}", rank_list(verdict.ranks));
  for (std::size_t i = 0; i < std::min<std::size_t>(verdict.hosts.size(), 4); ++i)
    text += fmt::format("{}{}", i == 0 ? " on " : ", ", shown(verdict.hosts[i], 100));
  return text;
}

}  // namespace

OwnVerdict judge_own(Facts facts, const OwnJob& own) {
  OwnVerdict out;
  std::string no_rank;
  std::erase_if(facts.ras, [&](const RasAnswer& answer) {
    const auto others = lists_all(answer) ? unlisted(answer, own) : std::string();
    if (is_own(answer, own)) {
      no_rank = others;
      return false;
    }
    out.left_out.push_back(fmt::format("{}: it answered for other processes than this job's{}{}",
                                       facts.files[answer.file].name,
                                       others.empty() ? "" : ", and does not list ", others));
    return true;
  });
  for (auto& each : keep_own_facts(facts, own)) out.left_out.push_back(std::move(each));
  std::vector<Verdict> verdicts;
  for (const auto& job : find_jobs(facts)) {
    if (is_own(job, own)) verdicts.push_back(judge_job(job, facts));
  }
  if (verdicts.empty()) return out;
  const auto best = std::ranges::max_element(verdicts, {}, sureness);
  out.verdict = *best;
  if (!no_rank.empty())
    out.verdict->limits.insert(
        out.verdict->limits.begin(),
        fmt::format("{} of this job holds a GPU and is no rank by what RAS lists", no_rank));
  for (const auto& other : verdicts) {
    if (&other == &*best || other.verdict == Class::unknown || other.verdict == best->verdict)
      continue;
    out.verdict->limits.push_back(fmt::format(
        "by {} it is {}: {}", other.files.empty() ? "another file" : other.files.front(),
        head_of(other), other.summary));
    // Two that contradict each other make neither sure.
    if (other.confidence == best->confidence) out.verdict->confidence = Confidence::possible;
  }
  return out;
}

std::vector<std::string> lines_of(const Verdict& verdict) {
  constexpr std::size_t most_evidence = 6;
  constexpr std::size_t most_limits = 3;
  std::vector<std::string> lines = {
      fmt::format("NCCL's account: {}: {}", head_of(verdict), shown(verdict.summary, 600))};
  if (!verdict.findings.empty()) {
    const auto& evidence = verdict.findings.front().evidence;
    for (std::size_t i = 0; i < std::min(evidence.size(), most_evidence); ++i)
      lines.push_back(shown(evidence[i], 400));
  }
  if (!verdict.next_step.empty())
    lines.push_back(fmt::format("next: {}", shown(verdict.next_step, 700)));
  for (std::size_t i = 0; i < std::min(verdict.limits.size(), most_limits); ++i)
    lines.push_back(fmt::format("not known: {}", shown(verdict.limits[i], 400)));
  return lines;
}

}  // namespace stoker::nccl
