// Composition: a node as `stoker diag` sees it: its cards by a probe of its own, read often while they work.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent.h"
#include "diag/judge.h"
#include "store/snapshot.h"

namespace stoker::app {

class DiagNode {
 public:
  // This machine's cards, or a simulated node below `data`. The probe is not outlived: a call of the driver is let come back,
  // for as long as docs/specs/probe.md says, unless `leave_it` says that nobody wants to wait for that.
  static Result<std::unique_ptr<DiagNode>> open(const config::Settings& settings,
                                                const std::string& data,
                                                std::function<bool()> leave_it);
  ~DiagNode();
  DiagNode(const DiagNode&) = delete;
  DiagNode& operator=(const DiagNode&) = delete;

  // As soon as every card has been read once, its processes too; when `limit` is over or `stop` says so, with what there is.
  store::Snapshot wait(Nanoseconds limit, const std::function<bool()>& stop) const;
  [[nodiscard]] store::Snapshot snapshot() const { return store_.snapshot(); }
  // As soon as the processes of every card that is there have been listed anew; when `limit` is over or `stop` says so, the
  // processes of the others are told as not read.
  store::Snapshot with_new_processes(Nanoseconds limit, const std::function<bool()>& stop) const;
  // Power, clocks and throttle reasons of every card since the node was opened, five times a second.
  [[nodiscard]] diag::LoadSamples samples() const;
  [[nodiscard]] std::string hostname() const { return env_->hostname(); }
  [[nodiscard]] std::shared_ptr<const os::Env> env() const { return env_; }
  // Empty on real cards.
  [[nodiscard]] const std::string& profile() const { return profile_; }

 private:
  class Sampled;
  DiagNode(SourceParts parts, const store::StoreOptions& options, std::function<bool()> leave_it);

  const std::function<bool()> leave_it_;
  const std::string profile_;
  const std::shared_ptr<os::Env> env_;
  store::Store store_;
  std::unique_ptr<Sampled> sampled_;
  device::Tee told_;
  sample::Derive derive_;
  std::unique_ptr<device::Source> source_;
};

}  // namespace stoker::app
