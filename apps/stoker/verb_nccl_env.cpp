// Verb `nccl env`: what is wrong with the environment of a job that uses NCCL.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "command_line.h"
#include "event/log_file.h"
#include "job_environment.h"
#include "lint/env/env_text.h"
#include "os/system_env.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* nccl_env_examples = R"(Examples:
  stoker nccl env                      what a job that is started here would get, with its nccl.conf
  stoker nccl env job.env --nccl 2.21.5 --hosts 4
                                       a file, for that NCCL and a job of four hosts
  srun -n1 env | stoker nccl env -     what Slurm hands to a job
  stoker nccl env /etc/nccl.conf       read as NCCL reads it: no quotes, no blanks, the first of two counts
  sudo stoker nccl env --pid 4711      a process that runs
  sudo stoker nccl env --slurm-job 815 all processes of a job on this host, compared with one another
  stoker nccl env job.env -o json | jq '.findings[] | {rule, severity, message}'

Read are lines of K=V, of `export`, of `env`, of dotenv files and of shell scripts. Without --nccl only names
are old that no NCCL since 2.18 reads. What a network plugin reads is its own and not judged.
Exit codes: 0 nothing worth a warning, 1 a warning or an error, 2 could not look, or wrong usage.)";

struct NcclEnvFlags {
  std::vector<std::string> files;
  std::uint32_t pid = 0;
  std::string job;
  std::string nccl;
  int hosts = 0;
  Output output = Output::table;
};

constexpr std::size_t largest_file = 16 << 20;

struct EnvLook {
  std::vector<Finding> findings;
  std::vector<std::string> unread;

  void add(std::vector<Finding> more) {
    findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
};

void look_at_file(const std::string& path, lint::EnvContext context, EnvLook& look) {
  std::string text;
  bool too_long = false;
  const auto read = event::read_log_file(path, [&](std::string_view piece) {
    too_long = too_long || text.size() + piece.size() > largest_file;
    if (!too_long) text += piece;
  });
  if (!read || too_long) {
    look.unread.push_back(read ? fmt::format("{}: longer than 16 MiB", path)
                               : read.error().message());
    return;
  }
  const std::string name = path == "-" ? "standard input" : path;
  context.reader = lint::reader_for(name, text);
  look.add(lint_environment(lint::read_environment_text(text, name, context.reader), context));
}

void look_at_conf(const std::string& path, const lint::EnvContext& context, EnvLook& look) {
  if (::access(path.c_str(), F_OK) == 0) look_at_file(path, context, look);
}

// As NCCL itself: src/misc/param.cc, initEnv().
void look_here(const lint::EnvContext& context, EnvLook& look) {
  std::vector<lint::Variable> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    auto one = lint::read_process_environment(*entry, "this environment");
    variables.insert(variables.end(), one.begin(), one.end());
  }
  look.add(lint_environment(variables, context));
  const char* conf = std::getenv("NCCL_CONF_FILE");
  const char* home = std::getenv("HOME");
  if (conf != nullptr && *conf != '\0') {
    look_at_conf(conf, context, look);
  } else if (home != nullptr) {
    look_at_conf(std::string(home) + "/.nccl.conf", context, look);
  }
  look_at_conf("/etc/nccl.conf", context, look);
}

void look_at_process(std::uint32_t pid, const lint::EnvContext& context, EnvLook& look) {
  const auto env = os::make_system_env();
  const auto variables = environment_of_process(*env, pid);
  if (!variables) {
    look.unread.push_back(variables.error().describe());
    return;
  }
  look.add(lint_environment(*variables, context));
}

// What several processes have in common is said once, of the first of them.
void look_at_job(const std::string& job, const lint::EnvContext& context, EnvLook& look) {
  const auto env = os::make_system_env();
  const auto processes = environments_of_job(*env, job, look.unread);
  if (processes.empty()) {
    look.unread.push_back(fmt::format("no process of job {} can be read on this host", job));
    return;
  }
  for (const auto& process : processes) {
    for (auto& finding : lint_environment(process, context)) {
      const bool said = std::ranges::any_of(look.findings, [&](const Finding& other) {
        return other.rule == finding.rule && other.evidence == finding.evidence;
      });
      if (!said) look.findings.push_back(std::move(finding));
    }
  }
  look.add(lint::compare_environments(processes));
}

int run_nccl_env(const NcclEnvFlags& flags) {
  lint::EnvContext context;
  if (!flags.nccl.empty()) {
    context.nccl = lint::NcclVersion::parse(flags.nccl);
    if (!context.nccl) return complain("--nccl: '" + flags.nccl + "' is no version such as 2.21.5");
  }
  if (flags.hosts > 0) context.several_hosts = flags.hosts > 1;
  EnvLook look;
  for (const auto& file : flags.files) look_at_file(file, context, look);
  if (flags.pid != 0) look_at_process(flags.pid, context, look);
  if (!flags.job.empty()) look_at_job(flags.job, context, look);
  if (flags.files.empty() && flags.pid == 0 && flags.job.empty()) look_here(context, look);

  for (const auto& each : look.unread) complain(each);
  if (flags.output == Output::sarif) {
    fmt::print("{}\n", render_sarif(look.findings, STOKER_VERSION));
  } else if (flags.output == Output::json) {
    print_document(render_json(look.findings), flags.output);
  } else {
    fmt::print("{}", render_table(look.findings, table_style()));
  }
  if (!look.unread.empty()) return exit_could_not;
  return std::ranges::any_of(
             look.findings,
             [](const Finding& finding) { return finding.severity >= Severity::warning; })
             ? exit_found
             : exit_nothing_wrong;
}

}  // namespace

void add_nccl_env_verb(CLI::App& nccl, int& exit_code) {
  auto flags = std::make_shared<NcclEnvFlags>();
  CLI::App* verb =
      nccl.add_subcommand("env", "Find what is wrong with NCCL's and torch's variables");
  verb->add_option("FILES", flags->files, "Files with variables; - is standard input");
  verb->add_option("--pid", flags->pid, "Look at a running process")->type_name("PID");
  verb->add_option("--slurm-job", flags->job, "Look at the processes of a Slurm job on this host")
      ->type_name("ID");
  verb->add_option("--nccl", flags->nccl, "NCCL's version, which names and values depend on")
      ->type_name("VERSION");
  verb->add_option("--hosts", flags->hosts, "How many hosts the job spans")->type_name("N");
  add_output_flag(*verb, flags->output, "table|json|sarif");
  verb->footer(nccl_env_examples);
  verb->callback([flags, &exit_code] { exit_code = run_nccl_env(*flags); });
}

}  // namespace stoker::app
