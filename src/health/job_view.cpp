#include "health/job_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/duration.h"

namespace stoker::health {
namespace {

using store::GpuSnapshot;
using store::Snapshot;

// A rank that waits for its peers sleeps: PyTorch's watchdogs wake a few times a second, and a logger reads /proc now and
// then. Our own choice; a rank that compiles, loads or writes does far more of one of the two.
constexpr double idle_cpu_percent = 3;
constexpr double idle_io_per_second = 64.0 * 1024;

struct Member {
  std::size_t card = 0;
  std::uint32_t pid = 0;
  const ProcessOwner* owner = nullptr;  // nullptr: not known
};

struct Job {
  std::string key;
  std::string name;  // empty: whose the processes are is not known
  std::vector<Member> members;
};

// What all processes of one job share, and how people call it.
std::pair<std::string, std::string> job_of(const ProcessOwner& owner) {
  const std::string& launch = owner.launch.id;
  if (owner.job) {
    const std::string name = "Slurm job " + owner.job->id;
    if (launch.empty()) return {name + "." + owner.job->step, name};
    return {name + " " + launch, name};
  }
  if (owner.pod && !owner.pod->pod.empty()) {
    const std::string name = "pod " + owner.pod->pod_namespace + "/" + owner.pod->pod;
    // Several pods of one node may be one launch.
    return {launch.empty() ? name : launch, name};
  }
  if (!launch.empty()) return {launch, "the launch at " + launch};
  if (owner.pod && !owner.pod->pod_uid.empty()) {
    return {owner.pod->pod_uid, "the pod " + owner.pod->pod_uid};
  }
  if (!owner.container_id.empty()) {
    return {owner.container_id, "the container " + owner.container_id.substr(0, 12)};
  }
  return {};
}

const ProcessOwner* owner_of(const Snapshot& snapshot, std::uint32_t pid) {
  if (snapshot.attribution == nullptr) return nullptr;
  const auto found = snapshot.attribution->owners.find(pid);
  return found == snapshot.attribution->owners.end() ? nullptr : &found->second;
}

std::vector<Job> jobs_of(const Snapshot& snapshot) {
  std::map<std::string, Job> jobs;
  for (std::size_t card = 0; card < snapshot.gpus.size(); ++card) {
    for (const auto& process : snapshot.gpus[card].processes) {
      const ProcessOwner* owner = owner_of(snapshot, process.pid);
      auto [key, name] = owner == nullptr ? std::pair<std::string, std::string>() : job_of(*owner);
      // One process may drive several cards; without a job each is one of its own.
      if (key.empty()) key = fmt::format("pid {}", process.pid);
      Job& job = jobs[key];
      job.key = key;
      job.name = std::move(name);
      job.members.push_back({card, process.pid, owner});
    }
  }
  std::vector<Job> all;
  all.reserve(jobs.size());
  for (auto& [key, job] : jobs) all.push_back(std::move(job));
  return all;
}

std::string member_name(const Snapshot& snapshot, const Member& member) {
  std::string text = fmt::format("GPU {} (", snapshot.gpus[member.card].info.index);
  if (member.owner != nullptr && member.owner->launch.rank) {
    text += fmt::format("rank {}, ", *member.owner->launch.rank);
  }
  return text + fmt::format("pid {})", member.pid);
}

// A few, and how many more.
std::string names_of(const Snapshot& snapshot, const std::vector<Member>& members) {
  constexpr std::size_t most = 4;
  std::vector<std::string> names;
  for (const Member& member : members) {
    if (names.size() == most) break;
    names.push_back(member_name(snapshot, member));
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (members.size() > most) text += fmt::format(" and {} more", members.size() - most);
  return text;
}

enum class Host : std::uint8_t { unknown, idle, busy };

Host host_of(const Member& member) {
  if (member.owner == nullptr || member.owner->work.reason != Reason::ok) return Host::unknown;
  const HostWork& work = member.owner->work;
  const bool busy = work.waits_in_kernel || work.cpu_percent >= idle_cpu_percent ||
                    work.io_per_second >= idle_io_per_second;
  return busy ? Host::busy : Host::idle;
}

std::string host_text(const Member& member) {
  if (member.owner == nullptr) return "whose it is, is not known";
  const HostWork& work = member.owner->work;
  if (work.reason != Reason::ok) {
    return fmt::format("what it does on the host is not known: {}", describe(work.reason));
  }
  return fmt::format("{:.1f} % of a core, {:.0f} bytes/s read and written, over {}{}",
                     work.cpu_percent, work.io_per_second, format_duration(work.over),
                     work.waits_in_kernel ? "; it sleeps in the kernel (state D)" : "");
}

// The members of one job by what their cards do.
struct Split {
  std::vector<Member> waiting;
  std::vector<Member> resting;
  bool works = false;
  bool unknown = false;  // of one card it is not known
  bool unproven = false;
  bool shared = false;  // another job's processes run on one of its cards too
};

class JobLook {
 public:
  JobLook(const Snapshot& snapshot, std::vector<CardWork>& cards, const Job& job)
      : snapshot_(snapshot), cards_(cards), job_(job) {}

  void look(const std::vector<std::size_t>& jobs_on_card) {
    for (const Member& member : job_.members) add(member, jobs_on_card.at(member.card) > 1);
    tell_hosts();
    if (split_.works || split_.waiting.empty()) return;
    const std::string why = why_unclear();
    if (!why.empty()) return tell(Progress::unclear, why);
    std::vector<Member> busy;
    for (const Member& member : split_.resting) {
      if (host_of(member) == Host::busy) busy.push_back(member);
    }
    if (busy.empty()) {
      return tell(Progress::hangs, fmt::format("{}, which does nothing on the host either",
                                               names_of(snapshot_, split_.resting)));
    }
    tell(Progress::waits_on_host,
         fmt::format("{}, which is busy on the host", names_of(snapshot_, busy)));
  }

 private:
  void add(const Member& member, bool shared) {
    const CardActivity& activity = cards_[member.card].activity;
    split_.shared = split_.shared || shared;
    switch (activity.what) {
      case Activity::works: split_.works = true; break;
      case Activity::unknown: split_.unknown = true; break;
      case Activity::rests: split_.resting.push_back(member); break;
      case Activity::spins:
        split_.waiting.push_back(member);
        split_.unproven = split_.unproven || !activity.proven;
        break;
    }
  }

  // What is known of each card whose processes were looked at, whatever its job does.
  void tell_hosts() {
    for (const Member& member : job_.members) {
      if (host_of(member) == Host::unknown) continue;
      CardWork& card = cards_[member.card];
      card.host_cpu_percent = card.host_cpu_percent.value_or(0) + member.owner->work.cpu_percent;
      card.evidence.push_back(line_of(member));
      if (split_.works && card.activity.what == Activity::rests) {
        card.evidence.emplace_back("another card of its job works");
      }
    }
  }

  [[nodiscard]] std::string line_of(const Member& member) const {
    const Activity what = cards_[member.card].activity.what;
    return fmt::format("{} {}: {}; {}", member_name(snapshot_, member), to_string(what),
                       activity_text(snapshot_.gpus[member.card]), host_text(member));
  }

  // Why nobody can say what the cards wait for; empty: it can be said.
  [[nodiscard]] std::string why_unclear() const {
    if (job_.name.empty()) return "what job it belongs to is not known";
    if (split_.shared) return "processes of other jobs run on the same card";
    if (split_.unknown) return "what another card of the job does is not known";
    if (split_.unproven) return "this card does not tell what its units do (GPM)";
    if (split_.resting.empty()) {
      return "every card of the job on this node waits: look at its other nodes, or for ranks that "
             "are in different calls";
    }
    for (const Member& member : split_.resting) {
      if (host_of(member) != Host::unknown) continue;
      return fmt::format("{} rests, and what its process does on the host is not known",
                         member_name(snapshot_, member));
    }
    return {};
  }

  void tell(Progress progress, const std::string& what_for) {
    const std::string name = job_.name.empty() ? "A program" : job_.name;
    const std::string waiting = names_of(snapshot_, split_.waiting);
    const bool clear = progress != Progress::unclear;
    const std::string story = fmt::format("{}: {} {} in a kernel{}{}", name, waiting,
                                          split_.waiting.size() == 1 ? "waits" : "wait",
                                          clear ? " for " : "; ", what_for);
    const std::size_t speaker = clear ? split_.resting.front().card : split_.waiting.front().card;
    for (const Member& member : job_.members) {
      CardWork& card = cards_[member.card];
      // A card of several jobs: what is worse is told.
      if (card.progress == Progress::hangs && progress != Progress::hangs) continue;
      card.progress = progress;
      card.speaks = member.card == speaker;
      card.story = story;
      card.evidence = evidence();
    }
  }

  [[nodiscard]] std::vector<std::string> evidence() const {
    std::vector<std::string> lines;
    lines.reserve(split_.waiting.size() + split_.resting.size());
    for (const Member& member : split_.waiting) lines.push_back(line_of(member));
    for (const Member& member : split_.resting) lines.push_back(line_of(member));
    return lines;
  }

  const Snapshot& snapshot_;
  std::vector<CardWork>& cards_;
  const Job& job_;
  Split split_;
};

}  // namespace

std::vector<CardWork> look_at_jobs(const Snapshot& snapshot) {
  std::vector<CardWork> cards;
  cards.reserve(snapshot.gpus.size());
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    cards.push_back({.activity = activity_of(gpu)});
  }
  const auto jobs = jobs_of(snapshot);
  std::vector<std::size_t> jobs_on_card(cards.size());
  for (const Job& job : jobs) {
    std::set<std::size_t> its;
    for (const Member& member : job.members) its.insert(member.card);
    for (const std::size_t card : its) ++jobs_on_card[card];
  }
  for (const Job& job : jobs) {
    for (const Member& member : job.members) {
      if (!job.name.empty() && jobs_on_card[member.card] == 1) cards[member.card].job = job.key;
    }
  }
  for (const Job& job : jobs) JobLook(snapshot, cards, job).look(jobs_on_card);
  return cards;
}

}  // namespace stoker::health
