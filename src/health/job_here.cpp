#include "health/job_here.h"

#include <set>

#include "health/job_view.h"

namespace stoker::health {

bool tells_of_hang(const Finding& finding) {
  return finding.entity.kind == EntityKind::gpu &&
         (finding.rule == "job-hung" || finding.rule == "job-suspect" ||
          finding.rule == "job-waits-on-host");
}

std::optional<JobHere> job_on(const Entity& card, const store::Snapshot& snapshot) {
  const auto* its_card = store::gpu_with(snapshot, card.id);
  if (its_card == nullptr) return std::nullopt;
  const auto work = look_at_jobs(snapshot);
  const auto& key = work.at(static_cast<std::size_t>(its_card - snapshot.gpus.data())).job;
  JobHere job{.key = key.empty() ? card.id : key, .cards = {}, .pids = {}};
  std::set<std::uint32_t> pids;
  for (std::size_t i = 0; i < snapshot.gpus.size(); ++i) {
    const auto& gpu = snapshot.gpus[i];
    const bool its = key.empty() ? &gpu == its_card : work[i].job == key;
    if (!its) continue;
    job.cards.push_back({EntityKind::gpu, gpu.info.uuid});
    for (const auto& process : gpu.processes) pids.insert(process.pid);
  }
  if (pids.empty() || (key.empty() && pids.size() > 1)) return std::nullopt;
  job.pids.assign(pids.begin(), pids.end());
  return job;
}

}  // namespace stoker::health
