#include <fmt/format.h>

#include <algorithm>

#include "event/judgement.h"
#include "nccl/candidate.h"
#include "nccl/kernel_time.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

constexpr std::size_t most_evidence = 6;

// "logs/rank_3.err", "rank3.log", "train-rank-12.txt"
std::optional<int> rank_in_name(std::string_view name) {
  name = name.substr(name.rfind('/') == npos ? 0 : name.rfind('/') + 1);
  for (const auto* word : {"rank_", "rank-", "rank.", "rank"}) {
    if (const auto rank = number_behind<int>(name, word); rank && *rank >= 0) return rank;
  }
  return std::nullopt;
}

std::optional<int> rank_of_hit(const Hit& hit, const Job& job, const Facts& facts) {
  if (hit.process) {
    if (const auto rank = rank_of(job, facts, *hit.process)) return rank;
  }
  if (hit.rank) return hit.rank;
  if (const auto rank = rank_in_name(facts.files[hit.place.file].name)) return rank;
  const auto alone = job.alone_in.find(hit.place.file);
  return alone == job.alone_in.end() ? std::nullopt : rank_of(job, facts, alone->second);
}

std::optional<int> rank_of_pid(std::uint32_t pid, const Job& job, const Facts& facts) {
  for (const auto index : job.processes) {
    if (pid != 0 && facts.processes[index].pid == pid) return rank_of(job, facts, index);
  }
  for (const auto index : job.exits) {
    if (pid != 0 && facts.exits[index].pid == pid && facts.exits[index].rank)
      return facts.exits[index].rank;
  }
  return std::nullopt;
}

void add_host(Candidate& candidate, const Job& job, std::optional<int> rank,
              std::string_view said = {}) {
  if (!said.empty()) {
    candidate.hosts.emplace(said);
  } else if (rank) {
    const auto found = job.ranks.find(*rank);
    if (found != job.ranks.end() && !found->second.host.empty())
      candidate.hosts.insert(found->second.host);
  }
}

// The job had communicated before: a path that never worked is out of the question.
bool went_on(const Job& job, const Facts& facts) {
  if (job.progress > 0) return true;
  return std::any_of(job.watches.begin(), job.watches.end(), [&](std::uint32_t index) {
    return facts.watches[index].completed.value_or(0) > 0;
  });
}

bool over_roce(const Job& job, const Facts& facts, const std::vector<Place>& evidence) {
  const bool said = std::any_of(evidence.begin(), evidence.end(), [](const Place& place) {
    return contains(place.text, "localGid ::ffff:") || contains(place.text, "localGid fd") ||
           contains(place.text, "local GID ::ffff:");
  });
  bool roce = said;
  for (const auto index : job.processes) {
    if (facts.processes[index].infiniband) return false;
    roce = roce || facts.processes[index].roce;
  }
  return roce;
}

// Retries that were used up over RoCE before anything worked are a path that never was one.
void judge_retries(Candidate& candidate, const Job& job, const Facts& facts) {
  if (candidate.rule != "wc_retry") return;
  const bool worked = went_on(job, facts);
  if (!worked && over_roce(job, facts, candidate.evidence)) {
    candidate.verdict = Class::roce_gid;
    const bool seen = std::any_of(job.processes.begin(), job.processes.end(),
                                  [&](std::uint32_t index) { return facts.processes[index].roce; });
    candidate.confidence = seen ? Confidence::likely : Confidence::possible;
    candidate.why =
        "the hosts did not reach each other over RoCE from the start, as with a GID that has no "
        "route";
    candidate.next_step =
        "compare show_gids of both hosts, and the GID index in use (NCCL_IB_GID_INDEX; 3 is often "
        "RoCE v2 "
        "over IPv4); ib_write_bw -d DEV -x GID between them; check VLAN and MTU";
  } else if (!worked) {
    candidate.confidence = Confidence::possible;
    candidate.next_step +=
        "; over RoCE an error at once is most often a wrong GID (NCCL_IB_GID_INDEX, show_gids)";
  }
}

bool versions_differ(const Job& job, const Facts& facts) {
  std::set<std::string> versions;
  for (const auto index : job.processes) {
    if (!facts.processes[index].version.empty()) versions.insert(facts.processes[index].version);
  }
  return versions.size() > 1;
}

void judge_versions(Candidate& candidate, const Job& job, const Facts& facts) {
  if (candidate.verdict == Class::version_mismatch && versions_differ(job, facts))
    candidate.confidence = Confidence::certain;
}

// A connection that fails because a rank offered its loopback is one of the interface.
void judge_interface(Candidate& candidate, const Job& job, const Facts& facts) {
  if (candidate.verdict != Class::firewall_or_connect) return;
  std::set<std::string> hosts;
  bool loopback = false;
  for (const auto index : job.processes) {
    hosts.insert(facts.processes[index].host);
    loopback = loopback || facts.processes[index].bootstrap.starts_with("lo:") ||
               facts.processes[index].bootstrap.starts_with("[0]lo:");
  }
  if (!loopback || hosts.size() < 2) return;
  candidate.verdict = Class::wrong_interface;
  candidate.why = "a rank offered its loopback address to ranks of other hosts";
  candidate.next_step = "set NCCL_SOCKET_IFNAME to the interface that joins the hosts";
}

Tier tier_of(const Sign& sign) {
  if (sign.role == Role::symptom) return Tier::symptom;
  if (sign.confidence != Confidence::certain) return Tier::told;
  return sign.verdict == Class::oom || sign.id.starts_with("ecc") ? Tier::hardware : Tier::named;
}

// Retries, and waiting for others, while a job starts mean something only where it did not start.
bool started_anyway(const Sign& sign, const Job& job) {
  const bool starting =
      (sign.where == Where::info || sign.where == Where::anywhere) &&
      (sign.verdict == Class::firewall_or_connect || sign.verdict == Class::missing_rank);
  return starting && job.size > 0 && std::ssize(job.ranks) == job.size &&
         std::all_of(job.ranks.begin(), job.ranks.end(),
                     [](const auto& each) { return each.second.complete; });
}

// The other sides that lines name, as the hosts that have these addresses where a log says so.
void name_peers(Candidate& candidate, const std::map<std::string, std::set<std::string>>& reporters,
                const Job& job, const Facts& facts) {
  constexpr std::size_t most = 4;
  const bool network = candidate.verdict == Class::ib_transport ||
                       candidate.verdict == Class::roce_gid ||
                       candidate.verdict == Class::firewall_or_connect ||
                       candidate.verdict == Class::wrong_interface;
  if (!network || reporters.empty() || reporters.size() > most) return;
  std::string names;
  for (const auto& [peer, hosts] : reporters) {
    std::string host = peer;
    for (const auto index : job.processes) {
      const auto& process = facts.processes[index];
      if (contains(process.bootstrap, ":" + peer + "<")) host = process.host;
    }
    names += (names.empty() ? "" : ", ") + host;
    // Several hosts that all complain of one: that one is to be looked at too.
    if (reporters.size() == 1 && hosts.size() > 1) candidate.hosts.insert(host);
  }
  candidate.why += "; the other side is " + names;
}

// Of so many ranks, so many came, and as many say that they wait: it is the others that are missing.
void name_missing(Candidate& candidate, const std::set<int>& waiting) {
  if (candidate.evidence.empty() || waiting.empty()) return;
  const auto& text = candidate.evidence.front().text;
  const auto size = number_behind<int>(text, "world_size=");
  const auto came = number_behind<int>(text, "worker_count=");
  constexpr int most = 100000;
  if (!size || !came || *came >= *size || *size > most || std::ssize(waiting) != *came) return;
  for (int rank = 0; rank < *size; ++rank) {
    if (!waiting.contains(rank)) candidate.ranks.insert(rank);
  }
  candidate.confidence = Confidence::likely;
}

void add_signs(const Job& job, const Facts& facts, std::vector<Candidate>& out) {
  std::map<std::string_view, Candidate> by_sign;
  std::map<std::string_view, std::map<std::string, std::set<std::string>>>
      peers;  // and who names them
  std::set<int> waiting;
  for (const auto index : job.hits) {
    const auto& hit = facts.hits[index];
    if (hit.sign->role != Role::cause && hit.sign->role != Role::symptom) continue;
    if (started_anyway(*hit.sign, job)) continue;
    auto& candidate = by_sign[hit.sign->id];
    candidate.tier = tier_of(*hit.sign);
    candidate.verdict = hit.sign->verdict;
    candidate.confidence = hit.sign->confidence;
    candidate.rule = hit.sign->id;
    candidate.by_exception = hit.sign->where == Where::exception;
    candidate.why = hit.sign->cause;
    candidate.next_step = hit.sign->next_step;
    candidate.source = hit.sign->source;
    candidate.count += hit.count;
    if (!hit.peer.empty()) {
      peers[hit.sign->id][hit.peer].insert(hit.process ? facts.processes[*hit.process].host : "");
    }
    if (candidate.evidence.size() < most_evidence) candidate.evidence.push_back(hit.place);
    // Who says that a rank is missing is another one.
    if (candidate.verdict == Class::missing_rank) {
      waiting.insert(hit.named_ranks.begin(), hit.named_ranks.end());
      continue;
    }
    const auto rank = rank_of_hit(hit, job, facts);
    if (!hit.named_ranks.empty())
      candidate.ranks.insert(hit.named_ranks.begin(), hit.named_ranks.end());
    else if (rank)
      candidate.ranks.insert(*rank);
    add_host(
        candidate, job, rank,
        hit.process ? std::string_view(facts.processes[*hit.process].host) : std::string_view());
  }
  for (auto& [id, candidate] : by_sign) {
    judge_retries(candidate, job, facts);
    judge_versions(candidate, job, facts);
    judge_interface(candidate, job, facts);
    name_peers(candidate, peers[id], job, facts);
    if (candidate.verdict == Class::missing_rank) name_missing(candidate, waiting);
    out.push_back(std::move(candidate));
  }
}

// "0000:90:00.0" and NCCL's "90000" are one card.
bool same_card(const PciAddress& pci, const std::string& bus) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(bus.data(), bus.data() + bus.size(), number, 16);
  if (code != std::errc{} || bus.empty() || end != bus.data() + bus.size()) return false;
  // NCCL takes the digits of "0000:90:00.0" for one number (busIdToInt64).
  return number == ((std::uint64_t{pci.domain} << 20U) | (std::uint64_t{pci.bus} << 12U) |
                    (std::uint64_t{pci.device} << 4U) | pci.function);
}

bool knows_cards(const Job& job) {
  return std::any_of(job.ranks.begin(), job.ranks.end(),
                     [](const auto& each) { return !each.second.bus.empty(); });
}

// The kernel's number of a process is not that of its container. A rank that was killed at all is most likely the victim.
void judge_unknown_victim(Candidate& candidate, const Job& job, const Facts& facts) {
  candidate.tier = Tier::symptom;
  candidate.confidence = Confidence::possible;
  constexpr int killed = -9;
  for (const auto index : job.exits) {
    const auto& exit = facts.exits[index];
    if (exit.code != killed) continue;
    candidate.tier = Tier::hardware;
    candidate.confidence = Confidence::likely;
    const auto rank = exit.rank ? exit.rank : rank_of_pid(exit.pid, job, facts);
    if (rank) candidate.ranks.insert(*rank);
    add_host(candidate, job, rank, exit.host);
    if (exit.first) return;
  }
}

// What names none of the job's processes, and was over before the job began where both logs are of one zone.
void be_earlier(Candidate& candidate, When when) {
  if (when != When::hours_before) return;
  candidate.tier = Tier::symptom;
  candidate.confidence = Confidence::possible;
  candidate.why += "; that was hours before the job's first line, if both logs are of one zone";
}

void add_kernel(const Job& job, const Facts& facts, std::vector<Candidate>& out) {
  if (!job.kernel) return;
  for (const auto& said : facts.kernel) {
    const auto& found = said.found;
    const auto& event = found.event;
    const auto judged = event::judge(event);
    const auto when = when_of(said, job, facts);
    if (when == When::days_before) continue;  // too_early() says so
    Place place{.file = said.file, .line = found.line, .text = shown(event.text)};
    const auto rank = event.pid ? rank_of_pid(*event.pid, job, facts) : std::nullopt;
    std::set<int> ranks;
    if (rank) ranks.insert(*rank);
    for (const auto& [number, info] : job.ranks) {
      if (event.pci && same_card(*event.pci, info.bus)) ranks.insert(number);
    }
    if (event.kind == EventKind::oom) {
      Candidate candidate{
          .tier = Tier::hardware, .verdict = Class::oom, .ranks = ranks, .rule = "kernel_oom"};
      candidate.confidence = Confidence::certain;
      if (!rank) judge_unknown_victim(candidate, job, facts);
      candidate.why = "the kernel killed a process because memory ran out";
      candidate.next_step =
          "give the job more memory on that host, or find what grew (the kernel's list of "
          "processes stands beside this line)";
      candidate.source = "kernel: oom_kill";
      candidate.evidence.push_back(std::move(place));
      if (!rank) be_earlier(candidate, when);
      out.push_back(std::move(candidate));
      continue;
    }
    if (event.kind != EventKind::xid && event.kind != EventKind::sxid) continue;
    if (ranks.empty() && event.pci && knows_cards(job))
      continue;  // a card that this job does not use
    const bool hardware =
        judged.level == FaultLevel::hardware || judged.level == FaultLevel::driver;
    // A fault of a program is only this job's where the process is; one of the card is every job's on it.
    const bool ours = rank.has_value();
    Candidate candidate{.tier = ours ? Tier::told : Tier::symptom,
                        .verdict = Class::cuda_error_or_xid,
                        .ranks = ranks,
                        .rule = "kernel_xid"};
    candidate.confidence = ours ? Confidence::likely : Confidence::possible;
    if (hardware && !ranks.empty()) {
      candidate.tier = Tier::hardware;
      candidate.confidence = ours ? Confidence::certain : Confidence::likely;
    }
    candidate.why =
        fmt::format("the driver reports {} {}{}: {}", to_string(event.kind), event.code.value_or(0),
                    event.pci ? " for " + event.pci->sysfs() : "", judged.meaning);
    candidate.next_step =
        fmt::format("{}; stoker xid scan of the kernel log, and stoker explain xid {}, tell more",
                    to_string(judged.action), event.code.value_or(0));
    candidate.source = judged.source;
    for (const auto number : ranks) add_host(candidate, job, number);
    candidate.evidence.push_back(std::move(place));
    if (!ours) be_earlier(candidate, when);
    out.push_back(std::move(candidate));
  }
}

const char* signal_name(int number) {
  switch (number) {
    case 4: return "SIGILL";
    case 6: return "SIGABRT";
    case 7: return "SIGBUS";
    case 8: return "SIGFPE";
    case 9: return "SIGKILL";
    case 11: return "SIGSEGV";
    default: return "a signal";
  }
}

void add_exits(const Job& job, const Facts& facts, std::vector<Candidate>& out) {
  constexpr int interrupt = -2;
  constexpr int abort = -6;
  constexpr int terminate = -15;
  const Exit* first = nullptr;
  for (const auto index : job.exits) {
    const auto& exit = facts.exits[index];
    if (exit.code == terminate || exit.code == interrupt)
      continue;  // the launcher ends the others so
    if (first == nullptr || (exit.first && !first->first)) first = &exit;
  }
  if (first == nullptr) return;
  const auto rank = first->rank ? first->rank : rank_of_pid(first->pid, job, facts);
  const bool killed = first->code < 0 && first->code != abort;
  Candidate candidate{
      .tier = killed ? Tier::died : Tier::left, .verdict = Class::dead_rank, .rule = "exit"};
  candidate.confidence = !killed ? Confidence::possible
                         : rank  ? Confidence::certain
                                 : Confidence::likely;
  if (rank) candidate.ranks.insert(*rank);
  for (const auto index : job.exits) {  // one line may tell of several
    const auto& exit = facts.exits[index];
    if (rank && exit.rank && exit.place.order == first->place.order)
      candidate.ranks.insert(*exit.rank);
  }
  add_host(candidate, job, rank, first->host);
  const auto who = rank ? rank_list({candidate.ranks.begin(), candidate.ranks.end()})
                        : fmt::format("process {}", first->pid);
  candidate.why = first->code < 0 ? fmt::format("{} was ended by signal {} ({}){}", who,
                                                -first->code, signal_name(-first->code),
                                                first->first ? ", the first of all" : "")
                                  : fmt::format("{} left with exit code {}{}", who, first->code,
                                                first->first ? ", the first of all" : "");
  candidate.next_step = first->code == -9 ? "see who killed it: dmesg of that host for the OOM "
                                            "killer, then the scheduler and whoever is on call"
                        : killed ? "get a core dump and its stack on that host (coredumpctl), and "
                                   "dmesg; SIGBUS is often a full /dev/shm"
                                 : "read that rank's own output just before it left";
  candidate.source = "the launcher";
  candidate.evidence.push_back(first->place);
  out.push_back(std::move(candidate));
}

void add_exceptions(const Job& job, const Facts& facts, std::vector<Candidate>& out) {
  std::map<std::string, Candidate> by_type;
  std::vector<std::string> order;
  for (const auto index : job.exceptions) {
    const auto& exception = facts.exceptions[index];
    if (exception.consequence) continue;
    const auto [at, fresh] = by_type.try_emplace(exception.type);
    Candidate& candidate = at->second;
    if (fresh) {
      order.push_back(exception.type);
      candidate.tier = Tier::program;
      candidate.verdict = Class::user_code;
      candidate.confidence = Confidence::likely;
      candidate.rule = "exception";
      candidate.why = fmt::format("the program raised {}: {}", exception.type, exception.message);
      candidate.next_step =
          "read the traceback above that line: it names file and line of the program";
      candidate.source = "Python traceback";
    }
    const auto rank = exception.rank
                          ? exception.rank
                          : rank_of_hit({.rank = {}, .place = exception.place}, job, facts);
    if (rank) candidate.ranks.insert(*rank);
    add_host(candidate, job, rank);
    ++candidate.count;
    if (candidate.evidence.size() < most_evidence) candidate.evidence.push_back(exception.place);
  }
  for (const auto& type : order) out.push_back(std::move(by_type[type]));
}

// An exception that names no rank is that of the rank that the launcher saw leave first, with an exit code.
void lend_rank(const Job& job, const Facts& facts, std::vector<Candidate>& candidates) {
  const Exit* first = nullptr;
  for (const auto index : job.exits) {
    const auto& exit = facts.exits[index];
    if (exit.first && exit.code > 0) first = &exit;
  }
  if (first == nullptr || !first->rank) return;
  for (auto& each : candidates) {
    const bool exception = each.tier == Tier::program || each.by_exception;
    if (!exception || !each.ranks.empty()) continue;
    each.ranks.insert(*first->rank);
    add_host(each, job, first->rank, first->host);
  }
}

}  // namespace

std::vector<Candidate> causes_of(const Job& job, const Facts& facts) {
  std::vector<Candidate> out;
  add_kernel(job, facts, out);
  add_signs(job, facts, out);
  add_exits(job, facts, out);
  add_exceptions(job, facts, out);
  lend_rank(job, facts, out);
  return out;
}

std::string evidence_text(const Place& place, const Facts& facts) {
  const auto& name = facts.files[place.file].name;
  return place.line == 0 ? fmt::format("{}: {}", name, place.text)
                         : fmt::format("{}:{}: {}", name, place.line, place.text);
}

}  // namespace stoker::nccl
