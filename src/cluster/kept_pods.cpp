#include "cluster/kept_pods.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>
#include <vector>

namespace stoker::cluster {
namespace {

using Name = std::array<std::string, 3>;

Name name_of(const ContainerResources& container) {
  return {container.pod_namespace, container.pod, container.container};
}

Reason reason_of(ErrorCode code) {
  if (code == ErrorCode::not_found) return Reason::no_source;
  return code == ErrorCode::no_permission ? Reason::no_permission : Reason::failed;
}

}  // namespace

void KeptPods::take(Result<PodsAnswer> answer, MonotonicTime now) {
  if (!answer) {
    keep(answer.error(), now);
    return;
  }
  if (answered_ && answer->kubelet != kubelet_) restarted_at_ = now;
  kubelet_ = answer->kubelet;
  answered_ = true;
  source_ = {.reason = Reason::ok, .at = now};
  if (restarted_at_ && now - *restarted_at_ > restart_settles_in) restarted_at_.reset();
  if (restarted_at_) {
    if (const std::size_t lacking = complete(answer->containers); lacking > 0) {
      source_.detail = fmt::format(
          "the kubelet has restarted and does not list {} of its containers yet", lacking);
    } else {
      restarted_at_.reset();
    }
  }
  resources_ = std::move(answer->containers);
}

std::size_t KeptPods::complete(PodResources& answer) const {
  std::set<Name> listed;
  std::set<std::string> taken;
  for (const auto& container : answer) {
    listed.insert(name_of(container));
    for (const auto& devices : container.devices)
      taken.insert(devices.ids.begin(), devices.ids.end());
  }
  std::size_t lacking = 0;
  for (ContainerResources container : resources_) {
    if (listed.contains(name_of(container))) continue;
    for (auto& devices : container.devices) {
      std::erase_if(devices.ids, [&](const std::string& id) { return taken.contains(id); });
    }
    std::erase_if(container.devices,
                  [](const PluginDevices& devices) { return devices.ids.empty(); });
    if (container.devices.empty() && container.claimed.empty()) continue;
    answer.push_back(std::move(container));
    ++lacking;
  }
  return lacking;
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
  restarted_at_.reset();
  answered_ = false;
}

}  // namespace stoker::cluster
