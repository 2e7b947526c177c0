#include "store/owners.h"

#include <algorithm>
#include <memory>
#include <set>

namespace stoker::store {

void drop_owners(Snapshot& snapshot, Nanoseconds age) {
  if (snapshot.attribution == nullptr || snapshot.attribution->owners.empty()) return;
  const MonotonicTime looked_at = snapshot.attribution->processes.at;
  std::set<std::uint32_t> listed;
  std::set<std::uint32_t> too_late;
  for (const GpuSnapshot& gpu : snapshot.gpus) {
    const bool in_time = gpu.process_outcome.taken_at - looked_at <= age;
    for (const auto& process : gpu.processes) (in_time ? listed : too_late).insert(process.pid);
  }
  const auto unknown = [&](const auto& owner) {
    return !listed.contains(owner.first) || too_late.contains(owner.first);
  };
  if (std::ranges::none_of(snapshot.attribution->owners, unknown)) return;
  auto kept = std::make_shared<Attribution>(*snapshot.attribution);
  std::erase_if(kept->owners, unknown);
  snapshot.attribution = std::move(kept);
}

}  // namespace stoker::store
