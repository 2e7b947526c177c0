#include "job_inquiry.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <string_view>

#include "base/log.h"
#include "base/sleep.h"
#include "device/probe/packet.h"
#include "inquirer_words.h"

namespace stoker::app {
namespace {

using device::probe::Process;

constexpr Seconds inquiry_looks_every{1};
constexpr int inquiry_beat_milliseconds = 100;
// Killed, a process is gone within milliseconds, unless the kernel holds it.
constexpr Milliseconds dies_within{1000};

bool reaped_within(Process& child, Nanoseconds time) {
  for (Nanoseconds waited{0};; waited += Milliseconds(10)) {
    if (child.poll_exit()) return true;
    if (waited >= time) return false;
    std::this_thread::sleep_for(Milliseconds(10));
  }
}

}  // namespace

void JobInquiry::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void JobInquiry::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void JobInquiry::run(const std::stop_token& stop) {
  do look(stop);
  while (sleep_unless_stopped(stop, inquiry_looks_every));
}

void JobInquiry::look(const std::stop_token& stop) {
  auto found = parts_.found();
  std::erase_if(found, [](const Finding& one) { return !health::tells_of_hang(one); });
  std::erase_if(asked_, [&](const auto& entry) {
    return parts_.clock.monotonic() - entry.second.at >= parts_.again_after;
  });
  if (found.empty()) return;
  const auto snapshot = parts_.snapshot();
  for (const auto& finding : found) {
    // Where it is not known whose work it is, nobody is asked in another's name.
    const auto job = health::job_on(finding.entity, snapshot);
    if (!job) continue;
    const auto last = asked_.find(job->key);
    // With other processes it was started anew.
    if (last != asked_.end() && std::ranges::includes(last->second.pids, job->pids)) continue;
    asked_[job->key] = {parts_.clock.monotonic(), job->pids};
    auto word = ask(*job, stop);
    if (stop.stop_requested()) return;
    parts_.tell(std::move(word));
  }
}

JobWord JobInquiry::ask(const health::JobHere& job, const std::stop_token& stop) {
  JobWord word{.job = job.key, .pids = job.pids, .cards = job.cards};
  if (stuck_ && stuck_->poll_exit()) stuck_.reset();
  std::string problem;
  if (stuck_) {
    problem = fmt::format("process {}, which asked before, is held by the kernel", stuck_->pid());
  } else {
    auto arguments = parts_.arguments;
    for (const auto pid : job.pids)
      arguments.insert(arguments.end(), {"--pid", std::to_string(pid)});
    auto child = Process::spawn({.program = parts_.program,
                                 .name = "stoker inquirer",
                                 .arguments = std::move(arguments),
                                 .environment = {}});
    if (child) {
      problem = hear(*child, word, stop);
      end(*std::move(child));
    } else {
      problem = child.error().describe();
    }
  }
  word.at = parts_.clock.wall();
  if (problem.empty() && word.lines.empty()) problem = "it told nothing";
  if (!problem.empty()) {
    // What came without an end is no verdict.
    word = {.job = job.key, .pids = job.pids, .cards = job.cards, .at = word.at};
    word.lines = {fmt::format("not asked: why the job hangs could not be found out: {}", problem)};
    if (!stop.stop_requested())
      log::warning("job_not_asked", {{"job", job.key}, {"reason", problem}});
  }
  return word;
}

std::string JobInquiry::hear(const Process& child, JobWord& word, const std::stop_token& stop) {
  const auto began = parts_.clock.monotonic();
  std::size_t packets = 0;
  while (!stop.stop_requested()) {
    if (parts_.clock.monotonic() - began > parts_.limit)
      return fmt::format("it took longer than {}, as where a file system does not answer",
                         format_duration(parts_.limit));
    pollfd waiting{child.socket(), POLLIN, 0};
    ::poll(&waiting, 1, inquiry_beat_milliseconds);
    const auto packet = device::probe::receive_packet(child.socket(), device::probe::Wait::no);
    if (!packet && packet.error().code() == ErrorCode::timeout) continue;
    if (!packet) return packet.error().describe();
    if (packet->empty()) return {};
    if (++packets > most_packets) return "it told too much";
    take_packet(*packet, word);
  }
  return "the agent ends";
}

void JobInquiry::end(Process child) {
  // What it has to say is said.
  if (reaped_within(child, Milliseconds(200))) return;
  child.signal(SIGKILL);
  if (!reaped_within(child, dies_within)) stuck_ = std::move(child);
}

}  // namespace stoker::app
