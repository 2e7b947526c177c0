#include "nccl/own_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "nccl/job.h"
#include "nccl/states.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

std::string_view short_host(std::string_view host) { return host.substr(0, host.find('.')); }

// NCCL tells what getpid(2) says to the process: its number in the innermost of its namespaces, and no other.
bool has_pid(const OwnProcess& process, std::uint32_t pid) {
  return pid != 0 && !process.pids.empty() && process.pids.back() == pid;
}

bool is_own(const Process& process, const OwnJob& own) {
  return std::ranges::any_of(own.processes, [&](const OwnProcess& each) {
    return !each.host.empty() && has_pid(each, process.pid) &&
           short_host(each.host) == short_host(process.host);
  });
}

// Does it list every rank, as JSON and no text does?
bool lists_all(const RasAnswer& answer) {
  return std::ranges::all_of(answer.groups, [](const GroupStates& group) {
    return group.size > 0 && std::ssize(group.ranks) >= group.size;
  });
}

// RAS names a process by its number, and by an address that nobody here can compare. Two containers have the same
// numbers often enough: where all are listed, all of ours have to be.
bool is_own(const RasAnswer& answer, const OwnJob& own) {
  std::size_t found = 0;
  for (const auto& process : own.processes) {
    const bool listed = std::ranges::any_of(answer.groups, [&](const GroupStates& group) {
      return std::ranges::any_of(
          group.ranks, [&](const auto& rank) { return has_pid(process, rank.second.pid); });
    });
    found += listed ? 1 : 0;
  }
  if (answer.groups.empty() || found == 0) return false;
  return found == own.processes.size() || !lists_all(answer);
}

bool is_own(const Job& job, const Facts& facts, const OwnJob& own) {
  if (!job.ras.empty()) return true;  // those of others are gone by now
  if (!job.processes.empty()) {
    return std::ranges::any_of(
        job.processes, [&](std::uint32_t index) { return is_own(facts.processes[index], own); });
  }
  return std::ranges::any_of(job.files,
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
  std::erase_if(facts.ras, [&](const RasAnswer& answer) {
    if (is_own(answer, own)) return false;
    out.left_out.push_back(fmt::format("{}: it answered for other processes than this job's",
                                       facts.files[answer.file].name));
    return true;
  });
  std::vector<Verdict> verdicts;
  for (const auto& job : find_jobs(facts)) {
    if (!is_own(job, facts, own)) {
      if (!job.processes.empty())
        out.left_out.push_back(fmt::format("{}: of other processes than this job's",
                                           facts.files[*job.files.begin()].name));
      continue;
    }
    verdicts.push_back(judge_job(job, facts));
  }
  if (verdicts.empty()) return out;
  const auto best = std::ranges::max_element(verdicts, {}, sureness);
  out.verdict = *best;
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
