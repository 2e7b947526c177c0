#include "diag/worker_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <utility>

#include <thread>
#include "device/probe/packet.h"
#include "device/probe/process.h"

namespace stoker::diag {
namespace {

using device::probe::Process;

constexpr int look_milliseconds = 100;

struct StepUnderWay {
  Step step = Step::count_;
  MonotonicTime since;
};

class WorkerRun {
 public:
  WorkerRun(const Plan& plan, const WorkerOptions& options, const RunWatch& watch)
      : plan_(plan), options_(options), watch_(watch), began_(system_clock().monotonic()) {}

  RunReport run() {
    auto process = Process::spawn({.program = options_.program,
                                   .name = "stoker worker",
                                   .arguments = options_.arguments,
                                   .environment = options_.environment});
    if (!process) {
      report_.problem = process.error().describe();
    } else if (!process->send(encode(told_plan()))) {
      report_.problem = "the worker took no plan";
    } else {
      if (watch_.on_started) watch_.on_started(process->pid());
      while (!over_) look(*process);
    }
    if (process) end(*process);
    say_what_is_missing();
    return std::move(report_);
  }

 private:
  [[nodiscard]] Plan told_plan() const {
    Plan out = plan_;
    out.ends_within_seconds = static_cast<double>(options_.kill_after.count()) * 1e-9;
    return out;
  }

  void look(Process& process) {
    pollfd waiting{process.socket(), POLLIN, 0};
    ::poll(&waiting, 1, look_milliseconds);
    while (!over_) {
      const auto packet = device::probe::receive_packet(process.socket(), device::probe::Wait::no);
      if (!packet && packet.error().code() == ErrorCode::timeout) break;
      if (!packet || packet->empty()) return died(process);
      const auto message = decode(*packet);
      if (!message) return give_up(message.error().describe());
      std::visit([this](const auto& told) { hear(told); }, *message);
    }
    if (over_) return;
    if (watch_.stop && watch_.stop()) {
      report_.stopped = true;
      return give_up("stopped");
    }
    look_for_hangs();
  }

  void hear(const Plan& /*plan*/) { give_up("the worker sent a plan"); }
  void hear(const Opened& opened) {
    opened_ = true;
    report_.notes = opened.notes;
    unopened_ = opened.unopened;
  }
  void hear(const Began& began) {
    under_way_[began.gpu] = {began.step, system_clock().monotonic()};
    if (watch_.on_began) watch_.on_began(began);
  }
  void hear(const Measurement& one) {
    report_.found.push_back(one);
    if (watch_.on_found) watch_.on_found(one);
  }
  void hear(const Ended& ended) {
    over_ = true;
    report_.problem = ended.problem;
  }

  void give_up(std::string why) {
    over_ = true;
    report_.problem = std::move(why);
  }
  void died(Process& process) {
    std::optional<std::string> how;
    for (int i = 0; i < 20 && !how; ++i) {
      how = process.poll_exit();
      if (!how) std::this_thread::sleep_for(Milliseconds(50));
    }
    reaped_ = how.has_value();
    give_up("the worker ended before it was done: " + how.value_or("it closed its socket"));
  }

  // All cards of one that share a step's turn wait for it: only pcie has turns, and its `began` comes with the turn.
  void look_for_hangs() {
    const auto now = system_clock().monotonic();
    if (!opened_ && now - began_ > options_.open_within) {
      return give_up(fmt::format("opening the cards did not return within {}",
                                 format_duration(options_.open_within)));
    }
    for (const auto& [gpu, under_way] : under_way_) {
      if (under_way.step == Step::count_) continue;
      // A card that is done with what it does alone waits for the others.
      if (told_all_of(gpu, under_way.step)) continue;
      const double allowed = std::max(allowed_seconds(under_way.step) * options_.allowed_scale,
                                      static_cast<double>(options_.least_allowed.count()) * 1e-9) +
                             load_seconds(under_way.step);
      const double took = static_cast<double>((now - under_way.since).count()) * 1e-9;
      if (took < allowed) continue;
      hung_ = gpu;
      hung_step_ = under_way.step;
      if (is_of_all_cards(under_way.step)) {
        return give_up(fmt::format("{} of all cards did not return within {:.0f} s",
                                   to_string(under_way.step), allowed));
      }
      return give_up(fmt::format("GPU {} did not return from {} within {:.0f} s", gpu,
                                 to_string(under_way.step), allowed));
    }
  }
  [[nodiscard]] double load_seconds(Step step) const {
    return step == Step::tensor ? 2 * plan_.load_seconds : 0;
  }

  [[nodiscard]] bool told_all_of(std::uint32_t gpu, Step step) const {
    return std::ranges::all_of(test_rows(), [&](const TestRow& row) {
      return row.step != step || std::ranges::any_of(report_.found, [&](const Measurement& one) {
               return one.gpu == gpu && one.test == row.name;
             });
    });
  }

  void end(Process& process) {
    if (reaped_) return;
    process.finish_sending();  // what it is at ends after the launch under way
    const auto asked = system_clock().monotonic();
    int sent = 0;
    while (!process.poll_exit()) {
      const auto waited = system_clock().monotonic() - asked;
      const int due = waited > options_.kill_after   ? SIGKILL
                      : waited > options_.term_after ? SIGTERM
                                                     : 0;
      if (due != sent) process.signal(due);
      sent = due;
      // A process in state D does not die: it is left, and whoever asked is told.
      const bool stuck = waited > options_.kill_after + Seconds(5);
      if (stuck || (watch_.stop && watch_.stop())) {
        report_.problem += fmt::format("; worker {} does not end: {}", process.pid(),
                                       stuck ? "not even killed, so it is stuck in the driver"
                                             : "it is left in a call of the driver");
        return;
      }
      drain(process);
      std::this_thread::sleep_for(Milliseconds(20));
    }
  }
  // So that it does not wait for us.
  static void drain(const Process& process) {
    while (true) {
      const auto packet = device::probe::receive_packet(process.socket(), device::probe::Wait::no);
      if (!packet || packet->empty()) return;
    }
  }

  void say_what_is_missing() {
    for (std::size_t i = 0; i < plan_.cards.size(); ++i) {
      const std::uint32_t gpu = plan_.cards[i].index;
      bool whole = true;
      for (const auto& row : test_rows()) {
        if (std::ranges::find(plan_.steps, row.step) == plan_.steps.end()) continue;
        const bool told = std::ranges::any_of(report_.found, [&](const Measurement& one) {
          return one.gpu == gpu && one.test == row.name;
        });
        if (told) continue;
        whole = whole && row.step == Step::nccl;
        report_.found.push_back(missing(row, gpu, i < unopened_.size() ? unopened_[i] : ""));
      }
      if (whole) report_.whole.insert(gpu);
    }
  }
  [[nodiscard]] Measurement missing(const TestRow& row, std::uint32_t gpu,
                                    const std::string& unopened) const {
    Measurement out{.test = std::string(row.name),
                    .gpu = gpu,
                    .outcome = Outcome::hindered,
                    .unit = std::string(row.unit)};
    const bool all = is_of_all_cards(row.step);
    if (hung_ && hung_step_ == row.step && row.step == Step::nccl) {
      // A wrong interface or too little shared memory does the same.
      out.reason = "the library did not return; whether a card is to blame is not known";
    } else if (hung_ && hung_step_ == row.step && (all || hung_ == gpu)) {
      out.outcome = Outcome::wrong;
      out.reason = all ? "did not return; which card it waits for is not known" : "did not return";
    } else if (!unopened.empty()) {
      out.reason = "the card could not be opened: " + unopened;
    } else {
      out.reason = report_.problem.empty() ? "nothing was told of it" : report_.problem;
    }
    return out;
  }

  const Plan& plan_;
  const WorkerOptions& options_;
  const RunWatch& watch_;
  const MonotonicTime began_;
  RunReport report_;
  std::map<std::uint32_t, StepUnderWay> under_way_;
  std::vector<std::string> unopened_;
  std::optional<std::uint32_t> hung_;
  Step hung_step_ = Step::count_;
  bool opened_ = false;
  bool over_ = false;
  bool reaped_ = false;
};

}  // namespace

RunReport run_in_worker(const Plan& plan, const WorkerOptions& options, const RunWatch& watch) {
  return WorkerRun(plan, options, watch).run();
}

}  // namespace stoker::diag
