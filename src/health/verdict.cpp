#include <fmt/format.h>

#include <algorithm>

#include "health/gpu_view.h"
#include "health/node_status.h"

namespace stoker::health {
namespace {

using store::Snapshot;

// GPUs that are there, those that can't be opened too.
std::size_t gpus_there(const Snapshot& snapshot) {
  return snapshot.gpus.size() +
         static_cast<std::size_t>(std::max(snapshot.source.unopened_gpus, 0));
}

// "7 of 8 GPUs answer".
std::string tally(const Snapshot& snapshot) {
  const auto answering = std::ranges::count_if(snapshot.gpus, answers);
  const auto there = gpus_there(snapshot);
  return fmt::format("{} of {} {} {}", answering, there, there == 1 ? "GPU" : "GPUs",
                     answering == 1 ? "answers" : "answer");
}

// The worst finding that is neither information nor a mere suspicion, first in evaluate()'s order; nullptr if there
// is none.
const Finding* worst(const std::vector<Finding>& findings) {
  const Finding* found = nullptr;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::info || finding.state != FindingState::firing) continue;
    if (found == nullptr || finding.severity > found->severity) found = &finding;
  }
  return found;
}

std::string reason_with(const Snapshot& snapshot, const std::string& what) {
  return gpus_there(snapshot) == 0 ? what : fmt::format("{}; {}", what, tally(snapshot));
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok: return "ok";
    case Verdict::degraded: return "degraded";
    case Verdict::critical: return "critical";
    case Verdict::unknown: return "unknown";
  }
  return "unknown";
}

NodeVerdict judge(const Snapshot& snapshot, const std::vector<Finding>& findings) {
  const Finding* finding = worst(findings);
  if (finding != nullptr && finding->severity == Severity::critical) {
    const auto others =
        std::count_if(findings.begin(), findings.end(),
                      [](const Finding& one) { return one.severity == Severity::critical; }) -
        1;
    const std::string more = others > 0 ? fmt::format(" and {} more critical", others) : "";
    return {Verdict::critical, reason_with(snapshot, finding->message + more)};
  }
  // From here on nothing is known to be broken; that is not yet knowing that all is well.
  if (snapshot.source.state != device::SourceState::running) {
    const std::string why = finding != nullptr  ? finding->message
                            : !findings.empty() ? findings.front().message
                                                : std::string("The GPUs are not being read");
    return {Verdict::unknown, reason_with(snapshot, why)};
  }
  if (gpus_there(snapshot) == 0) return {Verdict::unknown, "The driver lists no GPU"};
  for (const store::GpuSnapshot& gpu : snapshot.gpus) {
    if (answers(gpu)) continue;
    return {Verdict::unknown, reason_with(snapshot, name_of(gpu) + " has not been read")};
  }
  if (finding != nullptr && snapshot.gpus.empty()) {
    return {Verdict::unknown, reason_with(snapshot, finding->message)};
  }
  if (finding != nullptr) return {Verdict::degraded, reason_with(snapshot, finding->message)};
  return {Verdict::ok, tally(snapshot)};
}

}  // namespace stoker::health
