#include "counters_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/closest.h"
#include "base/log.h"
#include "base/sleep.h"
#include "os/system_env.h"

namespace stoker::app {
namespace {

// The kubelet brings a change of a ConfigMap within a minute or so; an operator with an editor waits
// two of these.
constexpr Seconds period{2};

// A ConfigMap holds 1 MiB at most: https://kubernetes.io/docs/concepts/configuration/configmap/
constexpr std::size_t largest = 1 << 20;

// The file is this process's own, wherever the host's root is mounted (option root).
const os::Env& own_files() {
  static const auto env = os::make_system_env("/", "/");
  return *env;
}

Result<std::string> file_in(const std::string& folder, const std::vector<std::string>& names) {
  if (std::ranges::find(names, "metrics") != names.end()) return folder + "/metrics";
  std::vector<std::string> csv;
  std::ranges::copy_if(names, std::back_inserter(csv), [](const std::string& name) {
    return name.ends_with(".csv") && !name.starts_with('.');
  });
  if (csv.size() == 1) return folder + "/" + csv.front();
  return fail(csv.empty() ? ErrorCode::not_found : ErrorCode::invalid_input,
              csv.empty()
                  ? fmt::format("{} has neither a file `metrics` nor one that ends in .csv", folder)
                  : fmt::format("{} has no file `metrics`, and {} end in .csv: which one?", folder,
                                listed(csv)));
}

Finding cannot_read(const std::string& path, const Error& error) {
  Finding finding;
  finding.rule = "counters-cannot-read";
  finding.severity = Severity::error;
  finding.entity = {EntityKind::file, path};
  finding.location = FileLocation{path, 0, 0};
  finding.message = error.describe();
  finding.action = Action::fix_config;
  finding.fix = "name a counter file, or a folder with one, in metrics.counters";
  return finding;
}

std::string as_line(const Finding& finding) {
  const FileLocation& at = *finding.location;
  const std::string place =
      at.line > 0 ? fmt::format("{}:{}:{}", at.file, at.line, at.column) : at.file;
  return fmt::format("{}: {}; {}", place, finding.message, finding.fix);
}

// One finding for the node's status, whatever is wrong in the file.
Finding not_taken_over(const std::string& path, const std::vector<Finding>& wrong) {
  Finding finding;
  finding.rule = "counters-not-reloaded";
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, path};
  finding.message =
      "The counter file has changed and can't be used: the series are those from before";
  finding.action = Action::fix_config;
  finding.fix = "Correct what the evidence says; the file is read again by itself";
  finding.source = "docs/specs/metrics.md";
  for (const Finding& one : wrong) {
    if (one.severity != Severity::error) continue;
    if (!finding.location) finding.location = one.location;
    finding.evidence.push_back(as_line(one));
  }
  return finding;
}

std::string seen_in(const std::string& path) {
  if (path.empty()) return "none";
  const auto read = read_counters(path);
  return read ? "text:" + read->file + "\n" + read->text : "error:" + read.error().describe();
}

}  // namespace

Result<CountersText> read_counters(const std::string& path) {
  std::error_code code;
  std::string file = std::filesystem::absolute(path, code).string();
  if (code) return fail(Error::from_errno(code.value(), "find " + path));
  if (const auto names = own_files().list_folder(file)) {
    auto inside = file_in(file, *names);
    if (!inside) return fail(inside.error());
    file = std::move(*inside);
  }
  auto text = own_files().read_file(file, largest);
  if (!text) return fail(text.error());
  return CountersText{.file = std::move(file), .text = std::move(*text)};
}

exporting::ParsedCounters load_counters(const std::string& path) {
  const auto read = read_counters(path);
  if (read) return exporting::parse_counters(read->text, read->file);
  return {.list = std::nullopt, .findings = {cannot_read(path, read.error())}};
}

CountersWatch::CountersWatch(Tell tell) : tell_(std::move(tell)) {}

CountersWatch::~CountersWatch() { stop(); }

void CountersWatch::set_path(const std::string& path) {
  const MutexLock lock(mutex_);
  path_ = path;
  if (const std::string seen = seen_in(path_); seen != in_force_) take_over(seen);
}

void CountersWatch::look() {
  const MutexLock lock(mutex_);
  const std::string seen = seen_in(path_);
  if (seen == in_force_) {
    seen_once_.reset();
  } else if (seen_once_ != seen) {
    seen_once_ = seen;
  } else {
    take_over(seen);
  }
}

void CountersWatch::take_over(const std::string& seen) {
  in_force_ = seen;
  seen_once_.reset();
  if (path_.empty()) {
    counters_ = nullptr;
    return tell_(nullptr, {});
  }
  auto loaded = load_counters(path_);
  for (const Finding& finding : loaded.findings) {
    log::warning("counter_file", {{"problem", as_line(finding)}});
  }
  if (!loaded.list) return tell_(counters_, {not_taken_over(path_, loaded.findings)});
  counters_ = std::make_shared<const exporting::CounterList>(std::move(*loaded.list));
  log::info("counters_taken_over", {{"file", path_},
                                    {"series", fmt::format("{}", counters_->series.size())},
                                    {"labels", fmt::format("{}", counters_->labels.size())}});
  tell_(counters_, {});
}

void CountersWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (sleep_unless_stopped(stop, period)) look();
  });
}

void CountersWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace stoker::app
