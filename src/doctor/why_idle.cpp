// Analyzer stage: why does this card do nothing?
#include <fmt/format.h>

#include "doctor/why_parts.h"

namespace stoker::doctor {
namespace {

void nobody_on_it(Answer& answer, const CardPicture& card) {
  if (!card.pods_unknown.empty()) {
    answer.looks.push_back({"pods that hold it", "not known: " + card.pods_unknown});
    answer.conclusion =
        "No process uses it. Whether a pod or job holds it without using it is not known.";
    answer.missing.push_back("who holds it: the kubelet's pod resources (" + card.pods_unknown +
                             "); on Slurm `squeue -w` of this node");
    return;
  }
  if (card.pods.empty()) {
    answer.looks.push_back({"pods that hold it", "none"});
    answer.certainty = Certainty::certain;
    answer.conclusion = "Nobody uses it and no pod holds it: it is free.";
    answer.next = "If pods wait for a GPU all the same: stoker why pending.";
    return;
  }
  answer.looks.push_back({"pods that hold it", card.pods.front()});
  answer.certainty = Certainty::certain;
  answer.wrong = true;
  answer.conclusion =
      fmt::format("Pod {} holds it, and no process of it has opened it.", card.pods.front());
  answer.next =
      "Look at the pod's log: it still starts, has ended its work, or does not see its GPU (stoker "
      "doctor inside it).";
}

void holder_rests(Answer& answer, const CardPicture& card) {
  answer.certainty = Certainty::likely;
  answer.wrong = true;
  answer.conclusion = fmt::format(
      "{} holds it and runs nothing on it: it works on the host (loads data, writes a checkpoint), "
      "waits for a peer or a request, or hangs. A CUDA that does not fit its driver fails; it does "
      "not idle.",
      work_text(card.works.front()));
  answer.missing.emplace_back(
      "what the process does on the host: `py-spy dump --pid`, `stoker nccl` on its logs");
  answer.next =
      "Ask again in a minute: the checks that tell starved, waiting and hung apart need to watch "
      "for a while (stoker explain check job-hung).";
}

}  // namespace

Answer why_idle(const NodePicture& picture, const CardPicture& card) {
  Answer answer;
  answer.about = card_name(card);
  if (is_gone(answer, card)) return answer;
  look_at(answer, card, "utilisation", "utilization_percent", "%");
  const auto told = findings_about(
      picture, card,
      {"job-hung", "gpu-starved", "idle-while-held", "job-waits-on-host", "job-suspect"});
  if (!told.empty()) {
    conclude(answer, *told.front());
    return answer;
  }
  const auto busy = reading(card, "utilization_percent");
  if (card.mig) {
    answer.conclusion =
        "The card is in MIG mode, where the driver tells no utilisation of the whole; its "
        "instances are told one by one.";
    answer.missing.emplace_back(
        "utilisation of a card in MIG mode: `stoker gpus` has each instance's own");
    return answer;
  }
  if (!busy) {
    answer.conclusion = "Whether it is idle is not known.";
    answer.missing.push_back("utilisation: " + reading_text(card, "utilization_percent", "%"));
    return answer;
  }
  if (!card.works_unknown.empty()) {
    answer.looks.push_back({"processes on it", "not known: " + card.works_unknown});
    answer.conclusion = "Who is on it is not known.";
    answer.missing.push_back("the processes on it: " + card.works_unknown);
    return answer;
  }
  answer.looks.push_back(
      {"processes on it", card.works.empty() ? "none" : work_text(card.works.front())});
  if (*busy > 0) {
    answer.certainty = Certainty::certain;
    answer.conclusion =
        fmt::format("It is not idle: in {:.0f} % of the time at least one kernel ran.", *busy);
    look_at(answer, card, "SM activity", "sm_active_percent", "%");
    answer.next =
        "Busy is not fast: a kernel that waits in a collective counts as busy. See stoker why "
        "slow.";
    return answer;
  }
  if (card.works.empty()) {
    nobody_on_it(answer, card);
    return answer;
  }
  holder_rests(answer, card);
  return answer;
}

}  // namespace stoker::doctor
