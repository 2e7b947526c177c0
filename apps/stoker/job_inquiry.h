// Composition: asks why a job looks hung, once when a check says so and again every few minutes while it stands. Each
// time a child (inquirer.h) does it, so that neither a file system that does not answer nor what a job's files hold can
// hold up or grow the agent. docs/specs/hangs.md.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "device/probe/process.h"
#include "health/job_here.h"
#include "model/finding.h"
#include "model/job_word.h"
#include "store/snapshot.h"

namespace stoker::app {

struct JobInquiryParts {
  const Clock& clock;
  std::function<std::vector<Finding>()> found;  // what the checks found at their last look
  std::function<store::Snapshot()> snapshot;
  std::function<void(JobWord)> tell;
  std::string program = "/proc/self/exe";
  std::vector<std::string> arguments = {"inquirer"};  // "--pid N" of each process follow
  // RAS answers within seconds and changes by the second; a hang stands for minutes and hours.
  Nanoseconds again_after = Seconds(300);
  // Two answers of RAS of 20 s each with 5 s between, from two addresses, and some files.
  Nanoseconds limit = Seconds(90);
};

class JobInquiry {
 public:
  explicit JobInquiry(JobInquiryParts parts) : parts_(std::move(parts)) {}
  ~JobInquiry() { stop(); }
  JobInquiry(const JobInquiry&) = delete;
  JobInquiry& operator=(const JobInquiry&) = delete;

  void start();
  // Ends the child, and waits a second for it at most.
  void stop();

 private:
  void run(const std::stop_token& stop);
  void look(const std::stop_token& stop);
  JobWord ask(const health::JobHere& job, const std::stop_token& stop);
  // Why no end of it was heard; empty: it ended, and all it said is in `word`.
  std::string hear(const device::probe::Process& child, JobWord& word, const std::stop_token& stop);
  void end(device::probe::Process child);

  // Constant after construction.
  const JobInquiryParts parts_;

  // Of the thread alone.
  struct Asked {
    MonotonicTime at;
    std::vector<std::uint32_t> pids;
  };
  // By job, whatever of it was found: what comes and goes is asked of no more often.
  std::map<std::string, Asked> asked_;
  std::optional<device::probe::Process>
      stuck_;  // one that did not even die: there is never a second

  std::jthread thread_;
};

}  // namespace stoker::app
