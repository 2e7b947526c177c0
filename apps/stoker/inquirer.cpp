#include "inquirer.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "inquirer_words.h"
#include "job_files.h"
#include "job_process.h"
#include "job_ras.h"
#include "like_problems.h"
#include "nccl/log_reader.h"
#include "nccl/own_job.h"
#include "nccl/words.h"
#include "os/system_env.h"
#include "ras_client.h"

namespace stoker::app {
namespace {

constexpr std::size_t most_processes = 64;
constexpr std::size_t most_files = 128;
constexpr std::size_t most_bytes = std::size_t{256} << 20U;
// A clock of a file server may be behind this host's.
constexpr Seconds clock_error{5};

class Inquiry {
 public:
  explicit Inquiry(const InquirerOptions& options)
      : options_(options), env_(os::make_system_env(options.root, options.device_root)) {}

  std::vector<std::string> run() {
    look_at_processes();
    if (processes_.empty()) return packets_of(nullptr, problems_.lines());
    ask_ras();
    if (const auto become_user = become(processes_.front().rights); !become_user)
      problem(become_user.error().describe());
    else
      read_files();
    read_answers();
    auto judged = nccl::judge_own(std::move(facts_), own_);
    for (auto& each : judged.left_out) problem(std::move(each));
    return packets_of(judged.verdict ? &*judged.verdict : nullptr, problems_.lines());
  }

 private:
  void problem(std::string text) { problems_.add({}, std::move(text)); }

  void look_at_processes() {
    for (const auto pid : options_.pids) {
      if (processes_.size() >= most_processes) break;
      auto process = look_at_process(*env_, pid);
      if (!process) {
        problems_.add(fmt::format("process {}", pid), process.error().describe());
        continue;
      }
      if (!process->environment_problem.empty())
        problems_.add(fmt::format("environment of process {}", pid), process->environment_problem);
      if (!process->host_problem.empty())
        problems_.add(fmt::format("host name of process {}", pid),
                      process->host_problem +
                          "; a log that has it in its name (%h) or its lines is not used");
      // One user's alone: rights that are given up don't come back.
      if (!processes_.empty() && !(process->rights == processes_.front().rights)) {
        problems_.add(fmt::format("process {}", pid), "it is another user's than the job's first");
        continue;
      }
      own_.processes.push_back({process->pids, process->host});
      processes_.push_back(*std::move(process));
    }
  }

  // One of them answers for all. The port is one a host, so where two say the same of it, it is asked once.
  void ask_ras() {
    using std::chrono::milliseconds;
    const auto ms = [](double seconds) {
      return milliseconds(static_cast<milliseconds::rep>(seconds * 1000));
    };
    constexpr std::size_t most_asked = 3;
    std::set<std::string> asked;
    for (const auto& process : processes_) {
      const auto addresses = ras_addresses_of(process);
      const auto where = fmt::format(
          "{} {}", process.network.valid() ? process.pid : 0,
          addresses ? format_host_port(addresses->front()) : addresses.error().message());
      if (!asked.insert(where).second) continue;
      if (asked.size() > most_asked) break;
      auto answers = ask_ras_of(*env_, process, processes_, ms(options_.ras_timeout_seconds),
                                ms(options_.ras_wait_seconds));
      if (!answers) {
        problem(fmt::format("RAS of process {}: {}", process.pid, answers.error().describe()));
        continue;
      }
      if (!answers->problem.empty())
        problem(
            fmt::format("RAS of process {}, the second time: {}", process.pid, answers->problem));
      answers_ = *std::move(answers);
      return;
    }
  }

  void read_answers() {
    for (const auto& text : answers_.texts) {
      nccl::LogReader reader(facts_, "RAS at " + answers_.address);
      reader.add(as_log(text));
      reader.finish();
    }
  }

  void read_files() {
    for (const auto& process : processes_) {
      for (const auto& name : file_names_of(process)) read_named(name, process);
    }
    for (const auto& pattern : options_.logs)
      read_named({env_->real_path("/"), pattern, false, false}, processes_.front());
  }

  void read_named(const FileName& name, const JobProcess& process) {
    const bool sought = name.pattern.find_first_of("*?[") != std::string::npos;
    for (const auto& path : files_named(name, limits_)) {
      if (!read_.insert({name.root, path}).second) continue;
      if (read_.size() > most_files || bytes_ > most_bytes)
        return problem("more of its files: they are too many or too large");
      const WallTime since{process.began.since_epoch - clock_error};
      const auto piece =
          read_job_file(name.root, path, name.dump, process.rights.uid, since, limits_);
      if (!piece) {
        // A dump is there after a time-out alone, and a pattern stands for others' files too.
        const bool expected = piece.error().code() == ErrorCode::not_found || sought;
        if (!expected || (!sought && !name.dump))
          problems_.add(nccl::shown(path, 200), piece.error().describe());
        continue;
      }
      bytes_ += piece->text.size();
      if (name.own) own_.files.insert(static_cast<std::uint32_t>(facts_.files.size()));
      nccl::LogReader reader(facts_, nccl::shown(path, 200));
      reader.add(piece->text);
      reader.finish(piece->cut.empty() ? Result<void>{} : fail(ErrorCode::io, piece->cut));
    }
  }

  const InquirerOptions& options_;
  const std::unique_ptr<os::Env> env_;
  const FileLimits limits_;
  std::vector<JobProcess> processes_;
  RasAnswers answers_;
  nccl::Facts facts_;
  nccl::OwnJob own_;
  std::set<std::pair<std::string, std::string>> read_;
  std::size_t bytes_ = 0;
  Problems problems_;
};

// Whatever a job's files hold: an allocation that fails ends this process alone. A sanitizer's shadow is larger by itself.
void limit_memory(const os::Env& env) {
  constexpr rlim_t most = rlim_t{2} << 30U;
  constexpr std::uint64_t usual = std::uint64_t{1} << 40U;
  const auto pages = env.read_file("/proc/self/statm");
  const auto size =
      pages ? whole_number<std::uint64_t>(pages->substr(0, pages->find(' '))) : std::nullopt;
  if (!size || *size * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) > usual) return;
  const rlimit limit{most, most};
  static_cast<void>(::setrlimit(RLIMIT_AS, &limit));
}

}  // namespace

int run_inquirer(const InquirerOptions& options, int fd) {
  limit_memory(*os::make_system_env());
  for (const auto& packet : Inquiry(options).run()) {
    if (::send(fd, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) return 2;
  }
  return 0;
}

}  // namespace stoker::app
