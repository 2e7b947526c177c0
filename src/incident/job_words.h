// Incident stage: what was found out about jobs that look hung, beside what the checks find about them. A word makes a
// suspicion of the checks a warning where NCCL itself says who is missing, and never makes anything surer than it is itself.
// Pure.
#pragma once

#include <deque>
#include <vector>

#include "incident/book.h"
#include "incident/now.h"
#include "model/finding.h"
#include "model/job_word.h"

namespace stoker::incident {

class JobWords {
 public:
  // After this a word says nothing of now any more: three times what is between two (docs/specs/hangs.md).
  static constexpr Seconds good_for{900};
  static constexpr std::size_t most = 64;

  // In the place of the earlier one about any of its cards. One that could tell nothing leaves a verdict that is still good.
  void hear(JobWord word, Now now);
  // Into the findings about jobs that the words are about.
  void add_to(std::vector<Finding>& findings, Now now);
  // Into their incidents, each word once.
  void tell(Book& book, Now now);

 private:
  struct Kept {
    JobWord word;
    MonotonicTime at;
    bool told = false;
  };
  [[nodiscard]] const JobWord* about(const Finding& finding) const;

  std::deque<Kept> words_;
};

}  // namespace stoker::incident
