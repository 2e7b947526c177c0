#include "diag_yield.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "diag/check_state.h"

namespace stoker::app {

namespace {

std::string text_of(const device::ProcessInfo& process, std::uint32_t gpu) {
  return fmt::format("process {}{} is on GPU {}", process.pid,
                     process.name.empty() ? "" : " (" + process.name + ")", gpu);
}

std::string unread_text(const store::GpuSnapshot& gpu) {
  return fmt::format("the processes of GPU {} can't be read any more ({})", gpu.info.index,
                     describe(gpu.process_outcome.reason));
}

}  // namespace

YieldWatch::YieldWatch(const DiagNode& node, const diag::Plan& plan, int parent)
    : node_(node), parent_(parent) {
  gpus_.reserve(plan.cards.size());
  for (const auto& card : plan.cards) gpus_.push_back(card.index);
}

std::string YieldWatch::reason() const {
  if (::getppid() != parent_) return starter_gone;
  const auto snapshot = node_.snapshot();
  for (const auto& gpu : snapshot.gpus) {
    if (std::ranges::find(gpus_, gpu.info.index) == gpus_.end()) continue;
    if (gpu.state == device::GpuState::present && !gpu.process_outcome.ok()) {
      return unread_text(gpu);
    }
    for (const auto& process : gpu.processes) {
      if (static_cast<int>(process.pid) == worker_) continue;
      return text_of(process, gpu.info.index);
    }
  }
  return "";
}

void YieldWatch::look(const store::Snapshot& snapshot, bool ended) {
  const bool simulated = store::is_simulated(snapshot).value_or(false);
  for (const auto& gpu : snapshot.gpus) {
    if (std::ranges::find(gpus_, gpu.info.index) == gpus_.end()) {
      const auto users = diag::users_of(gpu);
      others_used_ = others_used_ || users.unknown || !users.who.empty();
      continue;
    }
    if (!user_.empty() || gpu.state != device::GpuState::present) continue;
    const auto is_worker = [&](const device::ProcessInfo& process) {
      return static_cast<int>(process.pid) == worker_;
    };
    if (ended && !gpu.process_outcome.ok()) user_ = unread_text(gpu);
    if (!ended && !simulated && std::ranges::none_of(gpu.processes, is_worker)) continue;
    const auto other = std::ranges::find_if_not(gpu.processes, is_worker);
    if (other != gpu.processes.end()) user_ = text_of(*other, gpu.info.index);
  }
}

}  // namespace stoker::app
