#include "incident/job_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "health/job_here.h"

namespace stoker::incident {
namespace {

// Every process that runs is one that the word was asked of: those of a job that was started anew are others.
bool is_about(const JobWord& word, const health::JobHere& job) {
  return word.job == job.key && std::ranges::includes(word.pids, job.pids);
}

bool shares_card(const JobWord& a, const JobWord& b) {
  return std::ranges::find_first_of(a.cards, b.cards) != a.cards.end();
}

bool says_same(const JobWord& a, const JobWord& b) {
  return a.verdict == b.verdict && a.confidence == b.confidence && a.summary == b.summary &&
         (!a.verdict.empty() || a.lines == b.lines);
}

bool tells(const JobWord& word) { return !word.verdict.empty() && word.verdict != "unknown"; }

// Empty: it is not sure enough to stand in the place of what was known before.
std::string explanation_of(const JobWord& word) {
  const bool sure = word.confidence == "likely" || word.confidence == "certain";
  if (!tells(word) || !sure) return {};
  return fmt::format("By NCCL's account ({}, {}): {}", word.verdict, word.confidence, word.summary);
}

}  // namespace

void JobWords::hear(JobWord word, Now now) {
  bool told = false;
  for (auto at = words_.begin(); at != words_.end();) {
    if (!shares_card(at->word, word)) {
      ++at;
      continue;
    }
    const bool same = at->word.job == word.job && std::ranges::includes(at->word.pids, word.pids);
    if (same && tells(at->word) && !tells(word) && now.monotonic - at->at < good_for) return;
    told = told || (same && at->told && says_same(at->word, word));
    at = words_.erase(at);
  }
  words_.push_back({std::move(word), now.monotonic, told});
  if (words_.size() > most) words_.pop_front();
}

const JobWords::Kept* JobWords::about(const Finding& finding, const store::Snapshot& snapshot) {
  if (!health::tells_of_hang(finding)) return nullptr;
  const auto job = health::job_on(finding.entity, snapshot);
  Kept* found = nullptr;
  for (auto& kept : words_) {
    if (job && is_about(kept.word, *job)) found = &kept;
    // Whose work it is is not known for now: that forgets nothing, and nothing is told in its name.
    const bool may_be =
        !job && std::ranges::find(kept.word.cards, finding.entity) != kept.word.cards.end();
    kept.stands = kept.stands || may_be || found == &kept;
    kept.known = kept.known || found == &kept;
  }
  return found;
}

void JobWords::add_to(std::vector<Finding>& findings, const store::Snapshot& snapshot, Now now) {
  std::erase_if(words_, [&](const Kept& kept) { return now.monotonic - kept.at > good_for; });
  for (auto& kept : words_) kept.stands = kept.known = false;
  for (auto& finding : findings) {
    const auto* kept = about(finding, snapshot);
    if (kept == nullptr) continue;
    const auto* word = &kept->word;
    finding.evidence.insert(finding.evidence.end(), word->lines.begin(), word->lines.end());
    if (auto explanation = explanation_of(*word); !explanation.empty())
      finding.cause = std::move(explanation);
    // The cards alone can't tell; NCCL does.
    if (finding.rule != "job-suspect" || !word->blames) continue;
    finding.severity = Severity::warning;
    finding.message = fmt::format("A job hangs, by NCCL's account ({}, {}): {}", word->verdict,
                                  word->confidence, word->summary);
    if (!word->next_step.empty()) finding.fix = word->next_step;
  }
  std::erase_if(words_, [](const Kept& kept) { return !kept.stands; });
}

void JobWords::tell(Book& book, Now now) {
  for (auto& kept : words_) {
    if (kept.told || !kept.known) continue;
    const auto concerns = [&](const Finding& held) {
      return health::tells_of_hang(held) &&
             std::ranges::find(kept.word.cards, held.entity) != kept.word.cards.end();
    };
    kept.told = book.add_account(concerns, kept.word.lines, explanation_of(kept.word), now.wall);
  }
}

}  // namespace stoker::incident
