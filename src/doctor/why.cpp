#include "doctor/why.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "base/text.h"
#include "doctor/why_parts.h"
#include "model/pci_address.h"
#include "model/wrap.h"

namespace stoker::doctor {
namespace {

bool is_card(const CardPicture& card, std::string_view target) {
  if (whole_number<int>(target) == card.index || target == card.uuid) return true;
  const auto asked = PciAddress::parse(target);
  const auto own = PciAddress::parse(card.pci);
  return asked && own && *asked == *own;
}

bool is_pod(std::string_view pod, std::string_view target) {
  return !pod.empty() && (pod == target || pod.substr(pod.find('/') + 1) == target);
}

bool is_work(const WorkPicture& work, std::string_view target) {
  if (target.starts_with("pid:")) target.remove_prefix(4);
  return whole_number<std::uint32_t>(target) == work.pid || is_pod(work.pod, target) ||
         (!work.job.empty() && target == "job:" + work.job);
}

Answer answer_of(Question question, const NodePicture& picture, const CardPicture& card,
                 const WorkPicture* about) {
  switch (question) {
    case Question::oom: return why_oom(picture, card, about);
    case Question::idle: return why_idle(picture, card);
    case Question::slow: return why_slow(picture, card);
    case Question::pending: break;
  }
  return why_pending(picture);
}

}  // namespace

std::optional<Question> question_of(std::string_view word) {
  for (const auto question : {Question::oom, Question::idle, Question::slow, Question::pending}) {
    if (word == to_string(question)) return question;
  }
  return std::nullopt;
}

const char* to_string(Question question) {
  switch (question) {
    case Question::oom: return "oom";
    case Question::idle: return "idle";
    case Question::slow: return "slow";
    case Question::pending: return "pending";
  }
  return "pending";
}

const char* to_string(Certainty certainty) {
  switch (certainty) {
    case Certainty::certain: return "certain";
    case Certainty::likely: return "likely";
    case Certainty::unknown: return "unknown";
  }
  return "unknown";
}

Result<std::vector<Answer>> why(Question question, std::string_view target,
                                const NodePicture& picture) {
  if (question == Question::pending) return std::vector<Answer>{why_pending(picture)};
  std::vector<Answer> answers;
  // A number is a card's before it is a process's.
  const bool names_card = std::ranges::any_of(
      picture.cards, [&](const CardPicture& card) { return is_card(card, target); });
  for (const auto& card : picture.cards) {
    if (target.empty() || names_card) {
      if (target.empty() || is_card(card, target))
        answers.push_back(answer_of(question, picture, card, nullptr));
      continue;
    }
    const auto work = std::ranges::find_if(
        card.works, [&](const WorkPicture& each) { return is_work(each, target); });
    const bool held =
        std::ranges::any_of(card.pods, [&](const std::string& pod) { return is_pod(pod, target); });
    if (work == card.works.end() && !held) continue;
    answers.push_back(
        answer_of(question, picture, card, work == card.works.end() ? nullptr : &*work));
  }
  if (answers.empty() && question == Question::oom && !target.empty()) {
    // It was killed, so no card has it any more: the kernel's line is what is left of it.
    for (const auto& event : picture.events) {
      const WorkPicture gone{
          .pid = event.pid, .name = event.process, .memory_bytes = {}, .pod = "", .job = ""};
      if (event.kind == "oom" && is_work(gone, target) && !picture.cards.empty()) {
        answers = {why_oom(picture, picture.cards.front(), &gone)};
        answers.front().about = work_text(gone);
      }
    }
  }
  if (answers.empty()) {
    return fail(ErrorCode::not_found,
                picture.cards.empty() ? "the agent knows no GPU of this node"
                                      : fmt::format("no GPU, process or pod of this node is '{}': "
                                                    "`stoker gpus` and `stoker top` name them",
                                                    target));
  }
  return answers;
}

std::string answers_table(const std::vector<Answer>& answers, std::size_t width) {
  std::string out;
  for (const auto& answer : answers) {
    const auto part = [&](std::string_view label, const std::string& text) {
      append_labelled(out, label, printable(text), width);
    };
    if (!out.empty()) out += '\n';
    out += fmt::format("{} ({})\n", printable(answer.about), to_string(answer.certainty));
    part("answer", answer.conclusion);
    for (const auto& look : answer.looks) part("seen", look.at + ": " + look.seen);
    for (const auto& missing : answer.missing) part("missing", missing);
    if (!answer.next.empty()) part("do", answer.next);
  }
  return out;
}

std::string answers_json(Question question, const std::vector<Answer>& answers) {
  JsonWriter json;
  json.begin_object()
      .member("schema", "stoker.dev/v1/answer")
      .member("question", to_string(question));
  json.key("answers").begin_array();
  for (const auto& answer : answers) {
    json.begin_object()
        .member("about", answer.about)
        .member("certainty", to_string(answer.certainty))
        .member("wrong", answer.wrong);
    json.member("conclusion", answer.conclusion).key("looks").begin_array();
    for (const auto& look : answer.looks)
      json.begin_object().member("at", look.at).member("seen", look.seen).end_object();
    json.end_array().key("missing").begin_array();
    for (const auto& missing : answer.missing) json.value(missing);
    json.end_array();
    json.member_or_null("next_step", answer.next);
    json.end_object();
  }
  json.end_array().end_object();
  return json.text();
}

}  // namespace stoker::doctor
