// Analyzer stage: what ran out of memory: the container's on the host, which the kernel tells, or the card's, which only
// the program tells.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/why_parts.h"

namespace stoker::doctor {
namespace {

// The last kill that concerns the process, or any on this node where it is asked of nobody.
const EventPicture* kill_of(const NodePicture& picture, const WorkPicture* about) {
  const EventPicture* last = nullptr;
  for (const auto& event : picture.events) {
    if (event.kind != "oom") continue;
    if (about == nullptr || about->pid == event.pid) last = &event;
  }
  return last;
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
  const auto* kill = kill_of(picture, about);
  if (!picture.events_unknown.empty()) {
    answer.missing.push_back("whether the kernel killed anybody: " + picture.events_unknown);
  } else {
    answer.looks.push_back(
        {"kills by the kernel for want of memory",
         kill == nullptr ? "none since the agent watches" : kill->time + " " + kill->text});
  }
  if (!is_gone(answer, card)) look_at_memory(answer, card);
  if (kill != nullptr) {
    answer.certainty = about == nullptr ? Certainty::likely : Certainty::certain;
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
  answer.conclusion =
      "The kernel killed nobody for want of host memory, as far as is known. If the program said "
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
