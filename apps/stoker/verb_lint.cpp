// Verb `lint`: what will hurt a GPU workload, before it runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/closest.h"
#include "base/replace_file.h"
#include "base/write_all.h"
#include "command_line.h"
#include "lint/baseline.h"
#include "lint/formats.h"
#include "lint/lint_config.h"
#include "lint_cluster.h"
#include "lint_rules_text.h"
#include "lint_run.h"
#include "verbs.h"

namespace stoker::app {
namespace {

constexpr const char* lint_examples = R"(Examples:
  stoker lint deploy/                    every YAML and JSON file below a folder
  helm template chart/ | stoker lint -   what a chart renders; kustomize build DIR too
  stoker lint job.yaml --all             also what is only good to know
  stoker lint deploy/ -o sarif > lint.sarif
                                         for code scanning; junit and github for build servers
  stoker lint deploy/ --write-baseline lint.baseline
  stoker lint deploy/ --baseline lint.baseline
                                         only what is new since then
  stoker lint deploy/ --fix | git apply  repair what is repaired exactly: a missing sizeLimit, a limit of GPUs
  stoker lint --cluster                  the objects of the cluster that kubectl would ask, and its nodes
  stoker lint --cluster --context prod --namespace ml -o json
  stoker lint --explain shm-missing      why a rule is one, and who says so

A finding is left out by the comment `# stoker-lint-ignore: RULE` on its line or above it, by the annotation
stoker.dev/lint-ignore, and by kube-linter's annotations. The file .stoker-lint.yaml in this folder, or
--config FILE, turns rules off or gives them other severities.
A cluster is only read; docs/kubernetes/lint-cluster-role.yaml is all that it needs to be allowed. In a pod the pod's own
service account is used.
Exit codes: 0 nothing at or above --fail-on, 1 something, 2 could not look at all of it, or wrong usage.)";

struct LintFlags {
  std::vector<std::string> paths;
  std::string format = "table";
  std::string config;
  std::string baseline;
  std::string new_baseline;
  std::string fail_on;
  std::string explain;
  ClusterQuestion cluster;
  bool ask_cluster = false;
  bool all = false;
  bool list = false;
  bool fix = false;
};

// The config that is named, or that stands in this folder.
Result<lint::LintConfig> config_of(const LintFlags& flags) {
  std::string file = flags.config;
  if (file.empty()) {
    std::error_code error;
    if (!std::filesystem::exists(".stoker-lint.yaml", error)) return lint::LintConfig{};
    file = ".stoker-lint.yaml";
  }
  const auto text = read_whole(file);
  if (!text) return fail(text.error());
  std::vector<std::string> known;
  for (const auto& rule : all_lint_rules()) known.emplace_back(rule.id);
  return lint::read_lint_config(*text, file, known);
}

void print_findings(const LintFlags& flags, const LintLook& look) {
  if (flags.format == "sarif") {
    fmt::print("{}\n", render_sarif(look.findings, STOKER_VERSION));
  } else if (flags.format == "json") {
    fmt::print("{}\n", render_json(look.findings));
  } else if (flags.format == "junit") {
    fmt::print("{}", lint::render_junit(look.findings, look.files));
  } else if (flags.format == "github") {
    fmt::print("{}", lint::render_github(look.findings));
  } else {
    fmt::print("{}", render_table(look.findings, table_style()));
    fmt::print("{}{} finding{} in {} {}{}{}\n", look.findings.empty() ? "" : "\n",
               look.findings.empty() ? "no" : std::to_string(look.findings.size()),
               look.findings.size() == 1 ? "" : "s", look.files.size(), look.what,
               look.files.size() == 1 ? "" : "s",
               look.ignored > 0 ? fmt::format(", {} ignored", look.ignored) : "");
  }
}

// What can't be done together; empty: nothing.
std::string usage_problem(const LintFlags& flags) {
  if (flags.ask_cluster && !flags.paths.empty())
    return "say either --cluster or what files to look at";
  if (flags.ask_cluster && flags.fix) return "--fix is for files: nothing is changed in a cluster";
  const bool of_cluster = !flags.cluster.kubeconfig.empty() || !flags.cluster.context.empty() ||
                          !flags.cluster.name_space.empty() || !flags.cluster.token_file.empty();
  if (of_cluster && !flags.ask_cluster)
    return "--kubeconfig, --context, --namespace and --token-file are about --cluster";
  if (!flags.ask_cluster && flags.paths.empty())
    return "say what to look at: files, folders, - for standard input, or --cluster";
  return {};
}

Result<LintLook> look_as_asked(const LintFlags& flags) {
  if (flags.ask_cluster) return look_at_cluster(flags.cluster);
  return look_at(flags.paths, flags.fix);
}

int run_lint(const LintFlags& flags) {
  if (flags.list) return list_lint_rules(flags.format == "json");
  if (!flags.explain.empty()) return explain_lint_rule(flags.explain);
  if (const auto problem = usage_problem(flags); !problem.empty()) return complain(problem);
  const auto config = config_of(flags);
  if (!config) return complain(config.error().describe());
  auto looked = look_as_asked(flags);
  if (!looked) return complain(looked.error().describe());
  LintLook look = *std::move(looked);
  lint::apply_severities(*config, look.findings);
  const Severity least = flags.all ? Severity::info : Severity::warning;
  std::erase_if(look.findings, [&](const Finding& each) { return each.severity < least; });
  if (!flags.baseline.empty()) {
    const auto text = read_whole(flags.baseline);
    if (!text) return complain(text.error().describe());
    const auto known = lint::take_out_known(*text, look.findings);
    if (!known) return complain(fmt::format("{}: {}", flags.baseline, known.error().message()));
  }
  if (!flags.new_baseline.empty()) {
    const auto written =
        stoker::replace_file(flags.new_baseline, [&](int fd, const std::string& name) {
          return write_all(fd, lint::write_baseline(look.findings), name);
        });
    if (!written) return complain(written.error().describe());
    fmt::print("{} finding{} written to {}\n", look.findings.size(),
               look.findings.size() == 1 ? "" : "s", flags.new_baseline);
    for (const auto& each : look.unread) complain(each);
    return look.unread.empty() ? exit_nothing_wrong : exit_could_not;
  }
  if (flags.fix) {
    fmt::print("{}", look.patch);
  } else {
    print_findings(flags, look);
  }
  for (const auto& each : look.unread) complain(each);
  if (!look.unread.empty()) return exit_could_not;
  const Severity fail_on =
      severity_of(flags.fail_on).value_or(config->fail_on.value_or(Severity::warning));
  const bool found = std::ranges::any_of(
      look.findings, [&](const Finding& each) { return each.severity >= fail_on; });
  return found ? exit_found : exit_nothing_wrong;
}

}  // namespace

void add_lint_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<LintFlags>();
  CLI::App* verb =
      app.add_subcommand("lint", "Find what will hurt a GPU workload, in its manifests");
  verb->add_option("PATHS", flags->paths, "Files, and folders of them; - is standard input");
  verb->add_option("-o,--output", flags->format, "How to print (default: table)")
      ->type_name("table|json|sarif|junit|github")
      ->check(CLI::IsMember({"table", "json", "sarif", "junit", "github"}));
  verb->add_flag("--cluster", flags->ask_cluster, "The objects of a running Kubernetes cluster");
  verb->add_option("--kubeconfig", flags->cluster.kubeconfig,
                   "How to reach it (default: KUBECONFIG, ~/.kube/config, or in a pod its account)")
      ->type_name("FILE");
  verb->add_option("--context", flags->cluster.context, "Of the kubeconfig (default: its current)")
      ->type_name("NAME");
  verb->add_option("--namespace", flags->cluster.name_space,
                   "Only this one, and nothing about nodes")
      ->type_name("NAME");
  verb->add_option("--token-file", flags->cluster.token_file,
                   "A bearer token in place of the kubeconfig's; read again for every request")
      ->type_name("FILE");
  verb->add_flag("--all", flags->all, "Also what is only good to know (severity info)");
  verb->add_option("--fail-on", flags->fail_on,
                   "Least severity that makes the exit code 1 (default: warning)")
      ->type_name("info|warning|error")
      ->check(CLI::IsMember({"info", "warning", "error"}));
  verb->add_option("--config", flags->config,
                   "Severities of rules (default: .stoker-lint.yaml in this folder)")
      ->type_name("FILE");
  verb->add_option("--baseline", flags->baseline, "Leave out what this file knows")
      ->type_name("FILE");
  verb->add_option("--write-baseline", flags->new_baseline,
                   "Write what is found as a baseline, and print nothing of it")
      ->type_name("FILE");
  verb->add_flag("--fix", flags->fix,
                 "Print a patch of what can be repaired exactly, in place of the findings");
  verb->add_flag("--list-rules", flags->list, "Print all rules");
  verb->add_option("--explain", flags->explain, "Say what a rule is about, why, and who says so")
      ->type_name("RULE");
  verb->footer(lint_examples);
  verb->callback([flags, &exit_code] { exit_code = run_lint(*flags); });
}

}  // namespace stoker::app
