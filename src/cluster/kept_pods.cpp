#include "cluster/kept_pods.h"

#include <fmt/format.h>

#include <utility>

namespace stoker::cluster {
namespace {

Reason reason_of(ErrorCode code) {
  if (code == ErrorCode::not_found) return Reason::no_source;
  return code == ErrorCode::no_permission ? Reason::no_permission : Reason::failed;
}

}  // namespace

void KeptPods::take(Result<PodResources> answer, MonotonicTime now) {
  if (!answer) {
    keep(answer.error(), now);
    return;
  }
  resources_ = std::move(*answer);
  source_ = {.reason = Reason::ok, .at = now};
  answered_ = true;
}

void KeptPods::keep(const Error& error, MonotonicTime now) {
  if (!answered_) {
    // Once stale it stays so until there is an answer: that says more than what failed last.
    if (source_.reason != Reason::stale) source_.reason = reason_of(error.code());
    source_.detail = source_.reason == Reason::no_source ? std::string() : error.describe();
    return;
  }
  const Nanoseconds age = now - source_.at;
  source_.detail = fmt::format("the kubelet's last answer is {} old: {}", format_duration(age),
                               error.describe());
  if (age <= holds_kept_for) return;
  source_.reason = Reason::stale;
  resources_.clear();
  answered_ = false;
}

}  // namespace stoker::cluster
