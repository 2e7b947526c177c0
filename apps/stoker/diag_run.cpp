#include "diag_run.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "api/text_table.h"
#include "base/log.h"
#include "device/simnode/sim_node.h"
#include "diag/judge.h"
#include "diag/report.h"
#include "diag/worker_run.h"
#include "diag_history.h"
#include "diag_load.h"
#include "diag_node.h"
#include "diag_plan.h"
#include "diag_progress.h"
#include "diag_scope.h"
#include "diag_state.h"
#include "diag_yield.h"
#include "model/test_schedule.h"
#include "signals.h"
#include "verbs.h"

namespace stoker::app {
namespace {

using diag::TestResult;
using diag::Verdict;

// Until the readings of the last moments are there.
constexpr Milliseconds after_load{250};
constexpr Milliseconds processes_every{500};
// A list that is asked for now; a card that does not tell one is not tested.
constexpr Nanoseconds processes_within = Seconds(10);
constexpr int lowest_priority = 19;  // setpriority(2)
constexpr const char* nvls_variable = "NCCL_NVLS_ENABLE";

// The folder of a simulated node: the one that was named, else one that is gone afterwards.
class SimFolder {
 public:
  explicit SimFolder(const config::Settings& settings) {
    if (settings.text(config::OptionId::sim_profile).empty()) return;
    if (settings.origin(config::OptionId::data).kind != config::OriginKind::fallback) {
      path_ = settings.text(config::OptionId::data);
      return;
    }
    std::string name = (std::filesystem::temp_directory_path() / "stoker-diag-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = made_ = name;
  }
  ~SimFolder() {
    std::error_code ignored;
    if (!made_.empty()) std::filesystem::remove_all(made_, ignored);
  }
  SimFolder(const SimFolder&) = delete;
  SimFolder& operator=(const SimFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_made() const { return !made_.empty(); }
  // A node that was made for this run has nobody else's work on it.
  [[nodiscard]] Result<void> make_idle() const {
    if (made_.empty()) return {};
    auto node = simnode::SimNode::open(made_);
    if (!node) return fail(node.error());
    const auto idle = node->set_load("idle", "all");
    if (!idle) return fail(idle.error());
    return {};
  }

 private:
  std::string path_;
  std::string made_;
};

// Is the CUDA driver there for those who need it? It is not started: that would open the cards.
TestResult cuda_library(bool simulated) {
  TestResult out{.name = "cuda_library", .level = 1};
  if (simulated) {
    out.reason = "a simulated node has no CUDA driver";
    return out;
  }
  void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    out.verdict = Verdict::fail;
    out.reason =
        fmt::format("libcuda.so.1 can't be loaded: {}", why == nullptr ? "no reason told" : why);
    return out;
  }
  ::dlclose(library);
  out.verdict = Verdict::pass;
  out.reason = "libcuda.so.1 can be loaded";
  return out;
}

// Everything that one run knows.
class DiagRun {
 public:
  DiagRun(const DiagFlags& flags, const config::Settings& settings, DiagChoice choice)
      : flags_(flags),
        settings_(settings),
        choice_(std::move(choice)),
        began_(system_clock().monotonic()) {
    facts_.started = format_utc(system_clock().wall());
  }

  int run() {
    const SimFolder folder(settings_);
    log::set_level(log::Level::warning);
    auto settings = settings_;
    settings.set(config::OptionId::sample_period_processes, Nanoseconds(processes_every), {});
    if (flags_.while_idle) ::setpriority(PRIO_PROCESS, 0, lowest_priority);
    auto node = DiagNode::open(settings, folder.path(), leave_it_);
    if (!node) return refuse(node.error().describe());
    if (auto ok = folder.make_idle(); !ok) return refuse(ok.error().describe());
    const auto snapshot = first_snapshot(**node, stop_);
    facts_.hostname = (*node)->hostname();
    facts_.simulated = store::is_simulated(snapshot).value_or(false);
    if (stopped_) return end();  // which cards are there may not be known yet
    if (snapshot.source.state == device::SourceState::library_missing) {
      return refuse(
          "there is no NVIDIA driver on this machine, so there is nothing to test; simulated "
          "cards: --sim hgx-h100");
    }
    const auto gpus = chosen_gpus(flags_, snapshot);
    if (!gpus) return refuse(gpus.error().message());
    if (!choice_.steps.empty())
      load_.emplace(**node, settings_, look_once(snapshot, settings_, *gpus));
    if (choice_.state) add_state(**node, *gpus);
    if (is_comparable() && !folder.is_made()) {
      history_.emplace(folder.path().empty() ? settings_.text(config::OptionId::data)
                                             : folder.path());
    }
    folder_ = folder.path();
    if (!choice_.steps.empty() && !stopped_) {
      if (const auto refused = run_steps(**node, *gpus)) return *refused;
    }
    if (choice_.steps.empty() && flags_.while_idle) keep(snapshot);
    return end();
  }

 private:
  // Tells what there is; the exit code.
  int end() {
    if (stopped_) facts_.notes.emplace_back("stopped before the end");
    facts_.seconds = static_cast<double>((system_clock().monotonic() - began_).count()) * 1e-9;
    print();
    const int code = stopped_ ? exit_could_not : exit_code_of(results_);
    if (code == exit_could_not) tell_end();
    return code;
  }

  void add_state(const DiagNode& node, const std::vector<std::uint32_t>& gpus) {
    results_ = look_until_sure(node, settings_, gpus, stop_).states;
    results_.insert(results_.begin() + 1, cuda_library(facts_.simulated));
  }

  // The exit code where the run can't be as it was asked for.
  std::optional<int> run_steps(DiagNode& node, const std::vector<std::uint32_t>& gpus) {
    // Level 1 may have taken its time, and somebody may have come.
    const auto snapshot = node.with_new_processes(processes_within, stop_);
    if (stopped_) return std::nullopt;
    auto scope = scope_of(flags_, choice_, snapshot, gpus);
    const auto plan = make_plan(flags_, choice_, snapshot, gpus, scope.testable);
    if (!plan) return refuse(plan.error().message());
    for (const auto& line : scope.users) complain(line);
    if (!scope.users.empty() && given_up_.empty()) given_up_ = scope.users.front();
    if (!scope.users.empty())
      complain("in use, so nothing was tested; --allow-busy tests all the same");
    std::ranges::move(scope.hindered, std::back_inserter(results_));
    if (!plan->cards.empty()) {
      test_cards(node, *plan, snapshot);
      keep(snapshot);
    }
    sort_by_card();
    return std::nullopt;
  }

  void test_cards(DiagNode& node, const diag::Plan& plan, const store::Snapshot& snapshot) {
    DiagProgress progress(plan, !flags_.quiet && ::isatty(STDERR_FILENO) != 0);
    diag::RunWatch watch;
    YieldWatch yields(node, plan, parent_);
    yields.look(snapshot, false);
    watch.on_started = [&](int pid) { yields.set_worker(pid); };
    watch.on_began = [&](const diag::Began& began) { progress.on_began(began); };
    watch.on_found = [&](const diag::Measurement& one) { progress.on_found(one); };
    watch.stop = [&] {
      progress.show();
      if (heard_signal()) return true;
      yields.look(node.snapshot(), false);
      return flags_.while_idle && must_yield(yields);
    };
    diag::WorkerOptions options;
    if (facts_.simulated) {  // no driver's calls are waited for
      options.least_allowed = Seconds(0);
      options.term_after = Seconds(1);
      options.kill_after = Seconds(5);
    }
    if (!flags_.mig.empty()) options.environment.push_back("CUDA_VISIBLE_DEVICES=" + flags_.mig);
    // Ours goes from card to card, and NVLink's multicast is a feature of the switches: NCCL is compared without it, unless
    // somebody says otherwise (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-nvls-enable).
    if (std::getenv(nvls_variable) == nullptr)
      options.environment.push_back(fmt::format("{}=0", nvls_variable));
    std::vector<std::uint32_t> working;
    working.reserve(plan.cards.size());
    for (const auto& card : plan.cards) working.push_back(card.index);
    load_->begin(std::move(working));
    auto report = diag::run_in_worker(plan, options, watch);
    load_->end();
    std::this_thread::sleep_for(after_load);
    std::ranges::move(report.notes, std::back_inserter(facts_.notes));
    whole_ = std::move(report.whole);
    if (!report.problem.empty()) facts_.notes.push_back(report.problem);
    if (!stopped_) yields.look(node.with_new_processes(processes_within, stop_), true);
    if (!flags_.allow_busy && !stopped_) user_ = yields.user();
    if (given_up_.empty()) given_up_ = user_;
    const bool shared = flags_.allow_busy || !user_.empty();
    std::vector<TestResult> of_cards = judged(report.found, snapshot, node.samples(),
                                              {.others = yields.others_used(), .tested = shared});
    std::ranges::move(load_->look_again(node, folder_, shared, stop_, leave_it_),
                      std::back_inserter(of_cards));
    if (!user_.empty()) hinder(of_cards);
    std::ranges::move(of_cards, std::back_inserter(results_));
    if (!load_->note().empty()) facts_.notes.push_back(load_->note());
  }

  // True once: a second time would leave the worker.
  bool must_yield(const YieldWatch& yields) {
    if (yielded_) return false;
    auto why = yields.reason();
    if (why.empty()) return false;
    facts_.notes.push_back("given up: " + why);
    given_up_ = std::move(why);
    stopped_ = yielded_ = true;
    return true;
  }

  // Since the last time; once there was one, the run is stopped.
  bool heard_signal() {
    const bool heard = signals_.wait(Milliseconds(0)) != 0;
    stopped_ = stopped_ || heard;
    return heard;
  }

  // Which cards of the node somebody else used.
  struct Use {
    bool others = false;
    bool tested = false;
  };

  std::vector<TestResult> judged(const std::vector<diag::Measurement>& found,
                                 const store::Snapshot& snapshot, diag::LoadSamples samples,
                                 Use use) {
    diag::JudgeInput input{.cards = traits_of(snapshot, !flags_.mig.empty()),
                           .samples = std::move(samples),
                           .others_work = use.others,
                           .shared = use.tested};
    if (history_) {
      auto earlier = history_->earlier(input.cards);
      if (earlier) input.earlier = std::move(*earlier);
      if (!earlier)
        facts_.notes.push_back("not compared with earlier results: " + earlier.error().describe());
    }
    std::vector<TestResult> out;
    for (auto& one : diag::judge(found, input)) {
      if (is_told(one)) out.push_back(std::move(one));
    }
    return out;
  }

  // Of cards that somebody came to: only what is wrong whoever else was there is said.
  void hinder(std::vector<TestResult>& results) const {
    for (auto& one : results) {
      if (one.verdict == Verdict::fail) continue;
      if (one.verdict == Verdict::not_tested && !one.hindered) continue;  // is not there at all
      one.verdict = Verdict::not_tested;
      if (!one.hindered) one.reason = user_ + ": it came while the cards were tested";
      one.hindered = true;
    }
  }

  // What was asked for, and a fault that a test met on its way to that.
  [[nodiscard]] bool is_told(const TestResult& one) const {
    if (choice_.tests.empty() || one.verdict == Verdict::fail) return true;
    const std::string asked = one.name == "tensor_throttle" ? "tensor_load" : one.name;
    return std::ranges::find(choice_.tests, asked) != choice_.tests.end();
  }

  // The node's first, then each card's, as they came.
  void sort_by_card() {
    std::map<std::int64_t, std::vector<TestResult>> by_card;
    for (auto& one : results_)
      by_card[one.gpu ? std::int64_t{*one.gpu} : -1].push_back(std::move(one));
    results_.clear();
    for (auto& [gpu, of_card] : by_card) {
      std::ranges::move(of_card, std::back_inserter(results_));
    }
  }

  // Another load, a part of a card, or one that others use: neither compared with the whole card's past, nor part of it.
  [[nodiscard]] bool is_comparable() const {
    return flags_.history && flags_.mig.empty() && !flags_.allow_busy &&
           flags_.load_seconds == DiagFlags::usual_load_seconds;
  }

  // What a fault on purpose made of a card is not its history.
  void keep(const store::Snapshot& snapshot) {
    const bool sound = flags_.injections.empty() && flags_.faults.empty();
    if (!history_ || stopped_ || !sound || !user_.empty()) return;
    if (auto ok = history_->keep(results_, snapshot, facts_.started, made_levels()); !ok) {
      facts_.notes.push_back("results are not kept: " + ok.error().describe());
    }
  }

  // By card, the level whose tests this run has made as they are meant: all of them, by a worker that told each, and at least
  // one that says how the card is.
  [[nodiscard]] std::map<std::uint32_t, int> made_levels() const {
    std::map<std::uint32_t, int> out;
    if (!flags_.tests.empty() || flags_.memory_share < DiagFlags::usual_memory_share) return out;
    for (const auto& one : results_) {
      if (!one.gpu || one.verdict == Verdict::not_tested || one.is_beside) continue;
      const bool is_made = flags_.level == 1 || (one.level == 2 && whole_.contains(*one.gpu));
      if (is_made) out[*one.gpu] = flags_.level;
    }
    return out;
  }

  // What can't be begun; the exit code.
  int refuse(const std::string& why) const {
    tell(TestRunEnd::not_made, why);
    return complain(why);
  }
  // Of a run whose exit code says too little.
  void tell_end() const {
    if (stopped_ || !given_up_.empty())
      return tell(TestRunEnd::given_up, given_up_.empty() ? "it was asked to end" : given_up_);
    auto hindered = std::ranges::find_if(
        results_, [](const TestResult& one) { return one.hindered && one.level == 2; });
    if (hindered == results_.end())
      hindered = std::ranges::find_if(results_, &TestResult::hindered);
    const std::string why = hindered == results_.end() ? "there was nothing to test"
                                                       : hindered->name + ": " + hindered->reason;
    tell(made_levels().empty() ? TestRunEnd::not_made : TestRunEnd::hindered, why);
  }
  // One packet: a word, a blank, and why. Whoever started this may be gone.
  void tell(TestRunEnd end, const std::string& why) const {
    if (flags_.tell_fd < 0) return;
    const std::string packet = fmt::format("{} {}", to_string(end), why);
    ::send(flags_.tell_fd, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void print() const {
    if (flags_.output == "json") {
      print_document(diag::render_diag_json(results_, facts_), Output::json);
    } else if (flags_.output == "junit") {
      fmt::print("{}", diag::render_junit(results_, facts_));
    } else {
      print_table();
    }
    std::fflush(stdout);  // before the probe is waited for
  }

  void print_table() const {
    api::TextTable table({{.title = "GPU", .align = api::Align::right},
                          {.title = "test"},
                          {.title = "verdict"},
                          {.title = "value", .align = api::Align::right},
                          {.title = "limit", .align = api::Align::right},
                          {.title = "power", .align = api::Align::right},
                          {.title = "why"}});
    for (const auto& one : results_) {
      table.add({one.gpu ? std::to_string(*one.gpu) : "-", one.name,
                 one.verdict == Verdict::fail ? "FAIL" : to_words(one),
                 diag::value_text(one.value, one.unit), diag::value_text(one.limit, one.unit),
                 one.power_watts ? fmt::format("{:.0f} W", *one.power_watts) : "-", one.reason});
    }
    if (facts_.simulated)
      fmt::print(
          "These cards are SIMULATED: threads of this host, whose rates are not measured.\n");
    fmt::print("{}", table.text());
    for (const auto& one : results_) {
      if (one.verdict != Verdict::fail || one.details.empty()) continue;
      fmt::print("\nGPU {} {}:\n", one.gpu ? std::to_string(*one.gpu) : "-", one.name);
      for (const auto& detail : one.details) fmt::print("  {}\n", detail);
    }
    for (const auto& note : facts_.notes) fmt::print("note: {}\n", note);
    fmt::print("{}\n", diag::summary_text(results_, facts_));
  }
  static std::string to_words(const TestResult& one) {
    return one.verdict == Verdict::pass ? "pass" : one.hindered ? "NOT TESTED" : "not tested";
  }

  const DiagFlags& flags_;
  const config::Settings& settings_;
  const DiagChoice choice_;
  const MonotonicTime began_;
  diag::ReportFacts facts_;
  std::vector<TestResult> results_;
  std::optional<DiagHistory> history_;
  std::optional<DiagLoad> load_;   // of a run with active tests
  std::string folder_;             // of a simulated node; empty: this machine's cards
  std::set<std::uint32_t> whole_;  // cards of which the worker told everything
  std::string given_up_;           // why; empty: it was not
  std::string user_;  // of a card that was tested, who came meanwhile; empty: nobody did
  const int parent_ = flags_.started_by == 0 ? ::getppid() : flags_.started_by;
  Signals signals_;
  bool stopped_ = false;
  bool yielded_ = false;
  const AskedToStop leave_it_ = [this] { return heard_signal(); };
  const AskedToStop stop_ = [this] {
    heard_signal();
    if (!stopped_ && flags_.while_idle && ::getppid() != parent_) {
      given_up_ = starter_gone;
      facts_.notes.push_back("given up: " + given_up_);
      stopped_ = true;
    }
    return stopped_;
  };
};

}  // namespace

int run_diag(const DiagFlags& flags) {
  if (flags.list) {
    fmt::print("{}", diag_list());
    return exit_nothing_wrong;
  }
  const auto settings = resolve_settings(flags.config);
  if (!settings) return exit_could_not;
  auto choice = choose_tests(flags);
  if (!choice) return complain(choice.error().message());
  return DiagRun(flags, *settings, std::move(*choice)).run();
}

}  // namespace stoker::app
