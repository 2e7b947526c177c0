#include "doctor/why_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker::doctor {

std::optional<double> reading(const CardPicture& card, std::string_view key) {
  const auto found = card.readings.find(key);
  return found == card.readings.end() ? std::nullopt : std::optional(found->second);
}

std::string reading_text(const CardPicture& card, std::string_view key, std::string_view unit) {
  if (const auto value = reading(card, key)) {
    return unit == "GiB" ? gib_text(*value)
                         : fmt::format("{:.4g}{}{}", *value, unit.empty() ? "" : " ", unit);
  }
  const auto reason = card.reasons.find(key);
  return "not known: " + (reason == card.reasons.end() ? "it is not read" : reason->second);
}

void look_at(Answer& answer, const CardPicture& card, std::string_view what, std::string_view key,
             std::string_view unit) {
  answer.looks.push_back({std::string(what), reading_text(card, key, unit)});
}

std::string card_name(const CardPicture& card) { return fmt::format("GPU {}", card.index); }

std::string gib_text(double bytes) {
  constexpr double gib = 1 << 30;
  return fmt::format("{:.1f} GiB", bytes / gib);
}

std::string work_text(const WorkPicture& work) {
  std::string text =
      fmt::format("{} (pid {})", work.name.empty() ? "a process" : work.name, work.pid);
  if (work.memory_bytes) text += ", " + gib_text(*work.memory_bytes);
  if (!work.pod.empty()) text += ", pod " + work.pod;
  if (!work.job.empty()) text += ", job " + work.job;
  return text;
}

std::vector<const Finding*> findings_about(const NodePicture& picture, const CardPicture& card,
                                           std::initializer_list<std::string_view> rules) {
  std::vector<const Finding*> found;
  for (const auto& finding : picture.findings) {
    if (card.uuid.empty() || !finding.entity.id.starts_with(card.uuid)) continue;
    if (finding.state == FindingState::clear) continue;
    if (std::ranges::any_of(rules, [&](auto rule) { return finding.rule.starts_with(rule); })) {
      found.push_back(&finding);
    }
  }
  std::ranges::sort(found, [](const Finding* one, const Finding* other) {
    return one->severity != other->severity ? one->severity > other->severity : one < other;
  });
  return found;
}

void conclude(Answer& answer, const Finding& finding) {
  answer.certainty = finding.state == FindingState::firing ? Certainty::certain : Certainty::likely;
  answer.wrong = true;
  answer.conclusion = finding.message;
  if (!answer.conclusion.ends_with('.')) answer.conclusion += '.';
  if (!finding.cause.empty()) answer.conclusion += " " + finding.cause;
  if (!answer.conclusion.ends_with('.')) answer.conclusion += '.';
  answer.next = finding.fix;
  answer.looks.push_back({"check " + finding.rule,
                          finding.evidence.empty() ? finding.message : finding.evidence.front()});
}

bool is_gone(Answer& answer, const CardPicture& card) {
  answer.looks.push_back({"state", card.state + (card.detail.empty() ? "" : ": " + card.detail)});
  if (card.state == "present") return false;
  const bool known = card.state == "lost" || card.state == "hung";
  answer.certainty = known ? Certainty::certain : Certainty::unknown;
  answer.wrong = known;
  answer.conclusion = card.state == "lost"
                          ? "The card is off the bus or gone: it does nothing for anybody."
                      : card.state == "hung" ? "The driver does not answer for this card."
                                             : "The card has not been read.";
  answer.next =
      known ? "See `stoker status` and `stoker incidents`." : "Ask again when it has answered.";
  return true;
}

}  // namespace stoker::doctor
