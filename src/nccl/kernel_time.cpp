#include "nccl/kernel_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "nccl/candidate.h"
#include "nccl/line.h"
#include "nccl/words.h"

namespace stoker::nccl {
namespace {

constexpr double an_hour = 3600;
// Of the zones in use the last is 14 hours before UTC and the first 12 behind it (tz database, etcetera).
constexpr double any_two_zones = 26 * an_hour;
constexpr double half_a_year = 183 * 24 * an_hour;

// Of the logs that have a time before a communicator of theirs is made, the first; a log whose first time is that of its
// failure does not tell when it began.
std::optional<double> began(const Job& job, const Facts& facts) {
  std::optional<double> first;
  for (const auto index : job.processes) {
    for (const auto& comm : facts.processes[index].comms) {
      const auto& file = facts.files[comm.place.file];
      if (file.kernel || !file.first_when || file.first_when_line > comm.place.line) continue;
      if (!first || *file.first_when < *first) first = file.first_when;
    }
  }
  return first;
}

std::optional<double> seconds_before(const KernelEvent& event, const Job& job, const Facts& facts) {
  const auto when = seconds_of_year(event.found.time.text);
  const auto begin = began(job, facts);
  if (!when || !begin) return std::nullopt;
  const double before = *begin - *when;
  if (before > half_a_year || before < -half_a_year) return std::nullopt;  // over a new year
  return before;
}

}  // namespace

When when_of(const KernelEvent& event, const Job& job, const Facts& facts) {
  const auto before = seconds_before(event, job, facts);
  if (!before) return When::unknown;
  if (*before > any_two_zones) return When::days_before;
  return *before > an_hour ? When::hours_before : When::may_be_during;
}

std::vector<Finding> too_early(const Job& job, const Facts& facts) {
  constexpr std::size_t most = 8;
  std::vector<Finding> notes;
  if (!job.kernel) return notes;
  for (const auto& event : facts.kernel) {
    if (notes.size() >= most || when_of(event, job, facts) != When::days_before) continue;
    Finding note{.rule = "nccl-kernel_before", .severity = Severity::info};
    note.entity.kind = EntityKind::job;
    note.message =
        fmt::format("the kernel said this {:.0f} hours before the job's first line: not its cause",
                    *seconds_before(event, job, facts) / an_hour);
    note.evidence.push_back(evidence_text(
        {.file = event.file, .line = event.found.line, .text = shown(event.found.event.text)},
        facts));
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace stoker::nccl
