#include "diag_yield.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "diag/check_state.h"

namespace stoker::app {

YieldWatch::YieldWatch(const DiagNode& node, const diag::Plan& plan)
    : node_(node), parent_(::getppid()) {
  gpus_.reserve(plan.cards.size());
  for (const auto& card : plan.cards) gpus_.push_back(card.index);
}

std::string YieldWatch::reason() const {
  if (::getppid() != parent_) return "whoever started this is gone";
  const auto snapshot = node_.snapshot();
  for (const auto& gpu : snapshot.gpus) {
    if (std::ranges::find(gpus_, gpu.info.index) == gpus_.end()) continue;
    if (gpu.state == device::GpuState::present && !gpu.process_outcome.ok()) {
      return fmt::format("the processes of GPU {} can't be read any more ({})", gpu.info.index,
                         describe(gpu.process_outcome.reason));
    }
    for (const auto& process : gpu.processes) {
      if (static_cast<int>(process.pid) == worker_) continue;
      return fmt::format("process {}{} is on GPU {}", process.pid,
                         process.name.empty() ? "" : " (" + process.name + ")", gpu.info.index);
    }
  }
  return "";
}

bool are_others_used(const store::Snapshot& snapshot, const std::vector<diag::Measurement>& found) {
  return std::ranges::any_of(snapshot.gpus, [&](const store::GpuSnapshot& gpu) {
    if (std::ranges::find(found, gpu.info.index, &diag::Measurement::gpu) != found.end())
      return false;
    const auto users = diag::users_of(gpu);
    return users.unknown || !users.who.empty();
  });
}

}  // namespace stoker::app
