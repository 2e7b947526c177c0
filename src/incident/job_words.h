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
#include "store/snapshot.h"

namespace stoker::incident {

class JobWords {
 public:
  // After this a word says nothing of now any more: three times what is between two (docs/specs/hangs.md).
  static constexpr Seconds good_for{900};
  static constexpr std::size_t most = 64;

  // In the place of the earlier one about any of its cards. One that could tell nothing leaves a verdict about the same
  // processes that is still good.
  void hear(JobWord word, Now now);
  // Into the findings about the jobs that they were asked of, as `snapshot` has them now. A word about whose job nothing is
  // found is forgotten.
  void add_to(std::vector<Finding>& findings, const store::Snapshot& snapshot, Now now);
  // Into the incidents of what add_to() found last about their jobs, each word once.
  void tell(Book& book, Now now);

 private:
  struct Kept {
    JobWord word;
    MonotonicTime at;
    bool told = false;
    bool stands = false;  // something is found that is, or may be, about its job
    bool known = false;   // it is
  };
  // Marks what stands.
  const Kept* about(const Finding& finding, const store::Snapshot& snapshot);

  std::deque<Kept> words_;
};

}  // namespace stoker::incident
