#include "cluster/host_work.h"

#include <chrono>

namespace stoker::cluster {
namespace {

constexpr Nanoseconds between = Seconds(5);
// As long as a job has to stand still before anybody says so (health/checks.yaml, job-hung): a rank that wakes now and
// then to look at a clock is not working.
constexpr Nanoseconds window = Seconds(60);

Reason reason_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::no_permission: return Reason::no_permission;
    case ErrorCode::not_found: return Reason::lost;
    default: return Reason::not_supported;
  }
}

}  // namespace

bool HostWorkWatch::is_due(MonotonicTime now) const {
  return asked_at_ == MonotonicTime{} || now - asked_at_ >= between;
}

void HostWorkWatch::take(const Result<os::ProcessWork>& counted, MonotonicTime now) {
  asked_at_ = now;
  if (!counted) {
    counts_.clear();
    reason_ = reason_of(counted.error());
    return;
  }
  reason_ = Reason::ok;
  counts_.push_back({now, *counted});
  while (counts_.size() > 2 && now - counts_[1].at >= window) counts_.pop_front();
}

void HostWorkWatch::forget() { *this = {}; }

HostWork HostWorkWatch::told() const {
  if (reason_ != Reason::ok) return {.reason = reason_};
  if (counts_.size() < 2) return {};
  const Count& first = counts_.front();
  const Count& last = counts_.back();
  HostWork work{.reason = Reason::ok,
                .waits_in_kernel = last.work.waits_in_kernel,
                .over = last.at - first.at};
  const double seconds = std::chrono::duration<double>(work.over).count();
  // Less than before: one of the family has left it, which is work enough.
  const bool left = last.work.cpu < first.work.cpu || last.work.io_bytes < first.work.io_bytes;
  if (left) {
    work.cpu_percent = 100;
    return work;
  }
  const auto cpu = std::chrono::duration<double>(last.work.cpu - first.work.cpu).count();
  work.cpu_percent = 100 * cpu / seconds;
  work.io_per_second = static_cast<double>(last.work.io_bytes - first.work.io_bytes) / seconds;
  return work;
}

}  // namespace stoker::cluster
