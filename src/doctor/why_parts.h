// Analyzer stage: what the answers share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doctor/why.h"

namespace stoker::doctor {

// A reading as text with its unit, or why there is none; and the number.
std::optional<double> reading(const CardPicture& card, std::string_view key);
std::string reading_text(const CardPicture& card, std::string_view key, std::string_view unit);
void look_at(Answer& answer, const CardPicture& card, std::string_view what, std::string_view key,
             std::string_view unit);

std::string card_name(const CardPicture& card);
// "python (pid 4711), 61.2 GiB, pod a/b".
std::string work_text(const WorkPicture& work);
std::string gib_text(double bytes);

// Findings about a card or a part of it whose rule begins with one of `rules`, the worst first.
std::vector<const Finding*> findings_about(const NodePicture& picture, const CardPicture& card,
                                           std::initializer_list<std::string_view> rules);
// Makes `finding` the conclusion: certain when it fires, likely while it is suspected.
void conclude(Answer& answer, const Finding& finding);
// The card is lost, hung or unknown, and nothing else can be said of it.
bool is_gone(Answer& answer, const CardPicture& card);

Answer why_idle(const NodePicture& picture, const CardPicture& card);
Answer why_slow(const NodePicture& picture, const CardPicture& card);
// `about` is the pod or process that it is asked of; nullptr: the card's.
Answer why_oom(const NodePicture& picture, const CardPicture& card, const WorkPicture* about);
Answer why_pending(const NodePicture& picture);

}  // namespace stoker::doctor
