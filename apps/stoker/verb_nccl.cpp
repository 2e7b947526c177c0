// Verb `nccl`: why a multi-GPU job hangs or died, from what it left behind.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "command_line.h"
#include "event/log_file.h"
#include "nccl/log_reader.h"
#include "nccl/report.h"
#include "ras_client.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* nccl_examples = R"(Examples:
  stoker nccl run-17/                  a folder: logs of ranks and launcher, dumps, packed or not
  stoker nccl slurm-4711.out           one log that all ranks write
  kubectl logs job/train | stoker nccl -
  stoker nccl train.log /tmp/nccl_trace_rank_* dmesg.txt
                                       with the flight recorder's dumps, and the kernel's log
  stoker nccl --ras localhost          a job that hangs now: asks NCCL itself, twice, on a host where it runs
  stoker nccl run-17/ -o json | jq '.verdicts[] | {class, ranks, hosts, confidence}'

Read are logs of NCCL 2.2 and later and of PyTorch behind any launcher's prefix, dumps of PyTorch's flight
recorder (pickle, of data alone, and JSON), answers of NCCL's RAS (text, JSON), and kernel logs. Files of several
jobs give a verdict each. A verdict says how sure it is; "unknown" means that these files do not tell.
Exit codes: 0 healthy, 1 something found, 2 a file could not be read, or not to its end.)";

struct NcclFlags {
  std::vector<std::string> paths;
  std::string ras;
  double wait_seconds = 5;
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

void read_files(const NcclFlags& flags, nccl::Facts& facts, std::vector<std::string>& unread) {
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
    if (file.foreign && named) {
      unread.push_back(fmt::format("{}: it is neither text nor a dump", file.name));
    }
  }
}

// Twice, since ranks of a job that goes on may differ at any moment.
void read_ras(const NcclFlags& flags, nccl::Facts& facts, std::vector<std::string>& unread) {
  constexpr auto timeout = std::chrono::seconds(30);
  const auto address = parse_ras_address(flags.ras);
  if (!address) {
    unread.push_back(address.error().message());
    return;
  }
  const int answers = flags.wait_seconds > 0 ? 2 : 1;
  for (int answer = 0; answer < answers; ++answer) {
    if (answer > 0) std::this_thread::sleep_for(std::chrono::duration<double>(flags.wait_seconds));
    const auto said = ask_ras(*address, timeout);
    if (!said) {
      unread.push_back(
          fmt::format("RAS at {}: {}", format_host_port(*address), said.error().describe()));
      return;
    }
    nccl::LogReader reader(facts, "RAS at " + format_host_port(*address));
    reader.add(as_log(*said));
    reader.finish();
  }
}

int analyse(const NcclFlags& flags) {
  if (flags.paths.empty() && flags.ras.empty()) {
    return complain("say what to read: logs, dumps, a folder, - for standard input, or --ras HOST");
  }
  std::vector<std::string> unread;
  nccl::Facts facts;
  read_files(flags, facts, unread);
  if (!flags.ras.empty()) read_ras(flags, facts, unread);
  for (const auto& each : unread) complain(each);
  if (facts.files.empty())
    return unread.empty() ? complain("there is no file to read") : exit_could_not;
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
  verb->add_option("PATHS", flags->paths, "Logs, dumps, and folders of them; - is standard input");
  verb->add_option("--ras", flags->ras, "Ask NCCL's RAS port (28028) on a host of a running job")
      ->type_name("HOST[:PORT]");
  verb->add_option("--wait", flags->wait_seconds,
                   "Seconds between two answers of RAS; 0 asks once (default: 5)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 600.0));
  add_output_flag(*verb, flags->output, "table|json");
  verb->footer(nccl_examples);
  add_nccl_env_verb(*verb, exit_code);
  verb->callback([flags, verb, &exit_code] {
    if (verb->get_subcommands().empty()) exit_code = analyse(*flags);
  });
}

}  // namespace stoker::app
