#include "diag_log.h"

#include <fmt/format.h>

#include <utility>

#include "os/boot_id.h"

namespace stoker::app {
namespace {

constexpr std::size_t at_once = 512;
// The journal of a boot of a year is read in less; then nobody waits for it any more.
constexpr Nanoseconds passed_over_within = Seconds(5);

}  // namespace

DiagLog::DiagLog(std::shared_ptr<const os::Env> env) : env_(std::move(env)) {
  auto opened = event::open_kernel_log(*env_, os::boot_id(*env_), os::KmsgStart::end);
  if (!opened) {
    problem_ = "the kernel's log can't be read: " + opened.error().describe();
    return;
  }
  log_ = std::move(*opened);
  if (!pass_over() && problem_.empty()) {
    problem_ = fmt::format("the end of {} was not reached within {}", log_.name,
                           format_duration(passed_over_within));
  }
}

// What stands for the kernel's own log is told from the beginning of the boot.
bool DiagLog::pass_over() {
  const auto until = system_clock().monotonic() + passed_over_within;
  std::vector<os::KmsgRecord> records;
  while (read(records)) {
    if (records.empty()) return true;
    if (system_clock().monotonic() >= until) return false;
  }
  return false;
}

bool DiagLog::read(std::vector<os::KmsgRecord>& records) {
  records.clear();
  if (log_.follower == nullptr) return false;
  const auto lost = log_.follower->overwritten();
  const auto added = log_.follower->read(records, at_once);
  if (!added) {
    problem_ = fmt::format("{} can't be read any more: {}", log_.name, added.error().describe());
    log_.follower.reset();
    return false;
  }
  if (log_.follower->overwritten() > lost) {
    problem_ = fmt::format("{} lines of {} were overwritten before they were read",
                           log_.follower->overwritten() - lost, log_.name);
  }
  return true;
}

std::vector<Event> DiagLog::heard() {
  std::vector<Event> out;
  std::vector<os::KmsgRecord> records;
  while (read(records) && !records.empty()) {
    for (const auto& record : records) {
      // Whoever may write into the log can say anything there.
      if (record.facility != 0) continue;
      parser_.read({.text = record.text, .program = "kernel", .kernel = true}, out);
    }
  }
  return out;
}

}  // namespace stoker::app
