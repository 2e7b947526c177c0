// Analyzer stage: what ran out of memory: the container's on the host, which the kernel tells, or the card's, which only
// the program tells.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/why_parts.h"

namespace stoker::doctor {
namespace {

// A kill is an answer only where it is shown to be of whom it was asked of: the process itself, another of its pod on this
// card, or, of a card, a process on it.
bool concerns(const EventPicture& event, const CardPicture& card, const WorkPicture* about) {
  if (about != nullptr && about->pid == event.pid) return true;
  return std::ranges::any_of(card.works, [&](const WorkPicture& work) {
    const bool same_owner = about == nullptr || (!about->pod.empty() && about->pod == work.pod) ||
                            (!about->job.empty() && about->job == work.job);
    return work.pid == event.pid && same_owner;
  });
}

struct Kills {
  const EventPicture* own = nullptr;    // the last that concerns whom it is asked of
  const EventPicture* other = nullptr;  // the last of the rest
};
Kills kills_of(const NodePicture& picture, const CardPicture& card, const WorkPicture* about) {
  Kills kills;
  for (const auto& event : picture.events) {
    if (event.kind != "oom") continue;
    (concerns(event, card, about) ? kills.own : kills.other) = &event;
  }
  return kills;
}

void look_at_kills(Answer& answer, const NodePicture& picture, const Kills& kills) {
  if (!picture.events_unknown.empty()) {
    answer.missing.push_back("whether the kernel killed anybody: " + picture.events_unknown);
    return;
  }
  const auto text = [](const EventPicture* kill) { return kill->time + " " + kill->text; };
  if (kills.own != nullptr || kills.other == nullptr) {
    answer.looks.push_back(
        {"kills by the kernel for want of memory",
         kills.own == nullptr ? "none since the agent watches" : text(kills.own)});
    return;
  }
  answer.looks.push_back(
      {"kills by the kernel for want of memory, not shown to be of " + answer.about,
       text(kills.other)});
  answer.missing.push_back(
      fmt::format("whether {} (pid {}), which the kernel killed, was of it: ask "
                  "`stoker why oom pid:{}`, or compare with the pod's or job's log",
                  kills.other->process, kills.other->pid, kills.other->pid));
}

void look_at_memory(Answer& answer, const CardPicture& card) {
  look_at(answer, card, "memory of the card", "memory_total_bytes", "GiB");
  look_at(answer, card, "of it used", "memory_used_bytes", "GiB");
  look_at(answer, card, "of it free", "memory_free_bytes", "GiB");
  auto works = card.works;
  std::ranges::sort(works, [](const WorkPicture& one, const WorkPicture& other) {
    return one.memory_bytes.value_or(0) > other.memory_bytes.value_or(0);
  });
  constexpr std::size_t shown = 4;
  for (std::size_t n = 0; n < std::min(works.size(), shown); ++n) {
    answer.looks.push_back({"process on it", work_text(works[n])});
  }
  if (!card.works_unknown.empty())
    answer.missing.push_back("who holds the card's memory: " + card.works_unknown);
}

}  // namespace

Answer why_oom(const NodePicture& picture, const CardPicture& card, const WorkPicture* about) {
  Answer answer;
  answer.about = about == nullptr ? card_name(card)
                                  : fmt::format("{} on {}", work_text(*about), card_name(card));
  const Kills kills = kills_of(picture, card, about);
  const auto* kill = kills.own;
  look_at_kills(answer, picture, kills);
  if (!is_gone(answer, card)) look_at_memory(answer, card);
  if (kill != nullptr) {
    answer.certainty = about == nullptr ? Certainty::likely : Certainty::certain;
    answer.wrong = true;
    answer.conclusion = kill->sign == "cgroup_oom"
                            ? fmt::format(
                                  "Host memory: the kernel killed {} (pid {}), since its container "
                                  "or job had reached its own limit. The card's memory has nothing "
                                  "to do with it; Kubernetes calls this OOMKilled.",
                                  kill->process, kill->pid)
                            : fmt::format(
                                  "Host memory: the kernel killed {} (pid {}), since the node had "
                                  "none left. The card's memory has nothing to do with it.",
                                  kill->process, kill->pid);
    answer.next =
        "Raise the container's memory limit, or lower what it holds on the host: data loader "
        "workers, pinned buffers, what lies in /dev/shm (a memory volume counts to the limit).";
    return answer;
  }
  // A card that is gone keeps what was said of it.
  if (answer.wrong) return answer;
  answer.conclusion =
      std::string(
          kills.other == nullptr
              ? "The kernel killed nobody for want of host memory, as far as is known."
              : "The kernel killed a process for want of host memory, and nothing shows that "
                "it was of this.") +
      " If the program said "
      "'CUDA out of memory', "
      "it was the card's: neither driver nor kernel tells of that, and Kubernetes shows the "
      "program's own exit code, not OOMKilled.";
  answer.missing.emplace_back(
      "the program's own message: it says how much it asked for, how much was free, and how much "
      "it had reserved and not used (fragmentation, which nobody outside sees)");
  answer.next =
      "Read the message; then fewer or smaller batches, a lower --gpu-memory-utilization, or, if "
      "'reserved but unallocated' is large, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
  return answer;
}

}  // namespace stoker::doctor
