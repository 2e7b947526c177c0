// Verb `nccl`: why a multi-GPU job hangs or died, from what it left behind.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "command_line.h"
#include "event/log_file.h"
#include "nccl/log_reader.h"
#include "nccl/report.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* nccl_examples = R"(Examples:
  stoker nccl run-17/                  a folder: logs of ranks and launcher, dumps, packed or not
  stoker nccl slurm-4711.out           one log that all ranks write
  kubectl logs job/train | stoker nccl -
  stoker nccl train.log /tmp/nccl_trace_rank_* dmesg.txt
                                       with the flight recorder's dumps, and the kernel's log
  stoker nccl run-17/ -o json | jq '.verdicts[] | {class, ranks, hosts, confidence}'

Read are logs of NCCL 2.2 and later and of PyTorch behind any launcher's prefix, dumps of PyTorch's flight
recorder (pickle, of data alone, and JSON), answers of NCCL's RAS (text, JSON), and kernel logs. Files of several
jobs give a verdict each. A verdict says how sure it is; "unknown" means that these files do not tell.
Exit codes: 0 healthy, 1 something found, 2 a file could not be read, or not to its end.)";

struct NcclFlags {
  std::vector<std::string> paths;
  Output output = Output::table;
};

// The files at `path`, those of a folder and what lies below it in the order of their names.
std::vector<std::string> files_at(const std::string& path, std::vector<std::string>& unread) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path().string());
  }
  if (error) unread.push_back(fmt::format("{}: {}", path, error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

int analyse(const NcclFlags& flags) {
  std::vector<std::string> unread;
  nccl::Facts facts;
  for (const auto& path : flags.paths) {
    for (const auto& file : files_at(path, unread)) {
      nccl::LogReader reader(facts, file == "-" ? "standard input" : file);
      const auto read =
          event::read_log_file(file, [&](std::string_view bytes) { reader.add(bytes); });
      reader.finish(read);
    }
  }
  for (const auto& file : facts.files) {
    if (!file.damage.empty()) unread.push_back(fmt::format("{}: {}", file.name, file.damage));
    const bool named =
        std::find(flags.paths.begin(), flags.paths.end(), file.name) != flags.paths.end();
    if (file.foreign && named)
      unread.push_back(fmt::format("{}: it is neither text nor a dump", file.name));
  }
  for (const auto& each : unread) complain(each);
  if (facts.files.empty()) return complain("there is no file to read");
  const auto verdicts = nccl::judge(facts);
  if (flags.output == Output::json) {
    print_document(nccl::verdicts_json(verdicts), flags.output);
  } else {
    fmt::print("{}", nccl::verdicts_text(verdicts, table_style()));
  }
  if (!unread.empty()) return exit_could_not;
  const bool healthy = std::all_of(
      verdicts.begin(), verdicts.end(),
      [](const nccl::Verdict& verdict) { return verdict.verdict == nccl::Class::healthy; });
  return healthy ? exit_nothing_wrong : exit_found;
}

}  // namespace

void add_nccl_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<NcclFlags>();
  CLI::App* verb =
      app.add_subcommand("nccl", "Find why a multi-GPU job hangs or died, from its logs");
  verb->add_option("PATHS", flags->paths, "Logs, dumps, and folders of them; - is standard input")
      ->required();
  add_output_flag(*verb, flags->output, "table|json");
  verb->footer(nccl_examples);
  verb->callback([flags, &exit_code] { exit_code = analyse(*flags); });
}

}  // namespace stoker::app
