// Analyzer stage: can this node have another pod with a GPU? Why a pod waits is the scheduler's to say, and stands in the
// cluster; what a node can tell is whether one of its cards is free and sound.
#include <fmt/format.h>

#include "doctor/why_parts.h"

namespace stoker::doctor {

Answer why_pending(const NodePicture& picture) {
  Answer answer;
  answer.about = "this node";
  std::size_t free = 0;
  std::size_t held = 0;
  std::size_t sick = 0;
  std::string unknown;
  for (const auto& card : picture.cards) {
    const auto bad = findings_about(picture, card, {""});
    const Finding* worst = nullptr;
    for (const auto* finding : bad) {
      if (finding->severity >= Severity::error) worst = finding;
    }
    std::string seen = "free";
    if (card.state != "present" || worst != nullptr) {
      ++sick;
      seen = worst != nullptr ? worst->message : card.state;
    } else if (!card.pods_unknown.empty()) {
      unknown = card.pods_unknown;
      seen = "not known: " + card.pods_unknown;
    } else if (!card.pods.empty()) {
      ++held;
      seen = "held by pod " + card.pods.front();
    } else {
      ++free;
    }
    answer.looks.push_back({card_name(card), seen});
  }
  answer.missing.emplace_back(
      "what the scheduler says: kubectl describe pod, its last event (requests, taints, quota, "
      "affinity); on Slurm `squeue -o %R`");
  answer.missing.emplace_back(
      "what the kubelet offers: kubectl get node -o jsonpath='{.status.allocatable}', which "
      "differs from what is sound when a device plugin has marked a card unhealthy and never takes "
      "that back");
  if (picture.cards.empty()) {
    answer.conclusion = "No GPU of this node is known.";
  } else if (!unknown.empty()) {
    answer.conclusion = fmt::format("Who holds the GPUs is not known; {} of {} are not sound.",
                                    sick, picture.cards.size());
    answer.missing.insert(answer.missing.begin(), "the kubelet's pod resources: " + unknown);
  } else if (free == 0) {
    answer.certainty = Certainty::certain;
    answer.wrong = true;
    answer.conclusion =
        fmt::format("This node has no GPU to give: {} of {} are held, {} are not sound.", held,
                    picture.cards.size(), sick);
    answer.next =
        "See who holds them (stoker gpus, stoker top) and which of them are idle (stoker why "
        "idle).";
  } else {
    answer.certainty = Certainty::likely;
    answer.conclusion = fmt::format(
        "This node has {} free and sound GPU{}: what keeps the pod away lies in the cluster, or it "
        "asks for more than one node has free.",
        free, free == 1 ? "" : "s");
    answer.next = "kubectl describe pod POD: its events name the predicate that failed.";
  }
  return answer;
}

}  // namespace stoker::doctor
