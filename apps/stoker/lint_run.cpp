#include "lint_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "catalog/yaml/view.h"
#include "event/log_file.h"
#include "lint/cluster/cluster.h"
#include "lint/env/env_text.h"
#include "lint/env/environment.h"
#include "lint/ignore.h"
#include "lint/kubernetes/fixes.h"
#include "lint/kubernetes/lint.h"
#include "lint/kubernetes/rules.h"
#include "lint/nvidia/config.h"
#include "lint/prometheus/rule_file.h"
#include "lint/slurm/slurm.h"

namespace stoker::app {
namespace {

constexpr std::size_t largest_lint_file = std::size_t{256} << 20;

// In a folder: is this worth opening, by its name?
bool is_linted(const std::filesystem::path& path) {
  const auto extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json" ||
         extension == ".sh" || extension == ".sbatch" || extension == ".slurm" ||
         extension == ".conf";
}

// Folders of tools, which nobody wrote by hand.
bool is_passed_over(const std::filesystem::path& path) {
  const auto name = path.filename().string();
  return name == ".git" || name == "node_modules";
}

std::vector<std::string> files_below(const std::string& folder, LintLook& look) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && is_passed_over(at->path())) at.disable_recursion_pending();
    if (at->is_regular_file(ignored) && is_linted(at->path())) files.push_back(at->path().string());
  }
  if (error) look.unread.push_back(fmt::format("{}: {}", folder, error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

// Files of Slurm, which are judged together.
struct SlurmFiles {
  std::vector<std::string> names;
  std::vector<std::string> texts;
};

void add_findings(std::vector<Finding> found, LintLook& look) {
  look.findings.insert(look.findings.end(), std::make_move_iterator(found.begin()),
                       std::make_move_iterator(found.end()));
}

// Can `text` hold rules of Prometheus, or a configuration of NVIDIA's device plugin or mig-parted? Almost no file does,
// and only such a file is read once more.
bool may_be_other(std::string_view text) {
  constexpr std::array<std::string_view, 5> words = {"expr:", "mig-configs",
                                                     "sharing:", "migStrategy", "timeSlicing"};
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

void look_at_others(std::string_view text, const std::string& name,
                    std::vector<Finding>& findings) {
  if (!may_be_other(text)) return;
  for (const auto& piece : yaml::pieces_of(text)) {
    const auto root = yaml::parse(piece.text, name);
    // What is no YAML has been told already.
    if (!root) continue;
    auto found = lint::is_prometheus_rules(*root) ? lint::lint_prometheus_rules(*root, name)
                                                  : lint::lint_nvidia_config(*root, name);
    for (Finding& finding : found) {
      if (finding.location) finding.location->line += piece.first_line - 1;
      findings.push_back(std::move(finding));
    }
  }
}

// A path as a patch names it: below the folder in which it will be applied.
std::string patch_name(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  return std::string(path.starts_with('/') ? path.substr(1) : path);
}

// A configuration of Slurm that Ansible or another fills in: as it stands, no line of it is Slurm's.
bool is_slurm_template(const std::string& name, std::string_view text) {
  const bool conf = lint::slurm_file_kind(name, {}) != lint::SlurmFileKind::none;
  return conf &&
         (text.find("{%") != std::string_view::npos || text.find("{{") != std::string_view::npos);
}

void add_slurm_template(const std::string& name, LintLook& look) {
  using lint::kubernetes::RuleId;
  look.files.push_back(name);
  look.findings.push_back(lint::finding_of(lint::kubernetes::row_of(RuleId::template_not_read),
                                           {name, 1, 1}, "a template of a configuration of Slurm"));
}

// A script of a shell: nothing here reads it as YAML.
bool is_shell_script(const std::string& name, std::string_view text) {
  const auto extension = std::filesystem::path(name).extension();
  if (extension == ".sh" || extension == ".bash" || extension == ".sbatch" || extension == ".slurm")
    return true;
  const auto first = text.substr(0, text.find('\n'));
  return first.starts_with("#!") && first.find("sh") != std::string_view::npos;
}

// The line at which `finding` stands; empty: it has none.
std::string_view line_of(std::string_view text, const Finding& finding) {
  for (int line = 1; finding.location && line < finding.location->line; ++line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (text.empty()) return {};
  }
  return text.substr(0, text.find('\n'));
}

// What a script sets for programs. A name of NCCL's kind that it does not export is its own.
std::vector<Finding> lint_shell_script(std::string_view text, const std::string& name) {
  constexpr auto reader = lint::EnvReader::script;
  auto found = lint_environment(lint::read_environment_text(text, name, reader),
                                {.nccl = {}, .several_hosts = {}, .reader = reader});
  std::erase_if(found, [&](const Finding& finding) {
    return finding.rule == "nccl-misspelt" &&
           line_of(text, finding).find("export") == std::string_view::npos;
  });
  return found;
}

void look_at_one(const std::string& path, bool named, LintLook& look, SlurmFiles& slurm) {
  auto text = read_whole(path);
  if (!text) {
    look.unread.push_back(text.error().describe());
    return;
  }
  const std::string name = path == "-" ? "standard input" : path;
  if (is_slurm_template(name, *text)) return add_slurm_template(name, look);
  if (lint::slurm_file_kind(name, *text) != lint::SlurmFileKind::none) {
    look.files.push_back(name);
    slurm.names.push_back(name);
    slurm.texts.push_back(std::move(*text));
    return;
  }
  if (is_shell_script(name, *text)) {
    look.files.push_back(name);
    auto found = lint_shell_script(*text, name);
    look.ignored += lint::take_out_ignored(*text, found);
    return add_findings(std::move(found), look);
  }
  // Other scripts and configurations of a folder are none of ours.
  const auto extension = std::filesystem::path(name).extension();
  if (!named && extension != ".yaml" && extension != ".yml" && extension != ".json") return;
  look.files.push_back(name);
  auto manifest = lint::kubernetes::lint_manifest(*text, name);
  look_at_others(*text, name, manifest.findings);
  look.ignored += manifest.ignored + lint::take_out_ignored(*text, manifest.findings);
  if (look.with_patch) {
    look.patch +=
        lint::unified_patch(*text, lint::kubernetes::repairs_of(*text, manifest), patch_name(path));
  }
  add_findings(std::move(manifest.findings), look);
}

void look_at_slurm(const SlurmFiles& slurm, LintLook& look) {
  std::vector<lint::SlurmFile> files;
  files.reserve(slurm.names.size());
  for (std::size_t i = 0; i < slurm.names.size(); ++i)
    files.push_back({slurm.names[i], slurm.texts[i]});
  auto found = lint::lint_slurm_files(files);
  for (const auto& file : files) {
    std::vector<Finding> of_file;
    for (auto& finding : found) {
      if (finding.location && finding.location->file == file.name)
        of_file.push_back(std::move(finding));
    }
    look.ignored += lint::take_out_ignored(file.text, of_file);
    add_findings(std::move(of_file), look);
  }
}

}  // namespace

std::vector<LintRules> lint_rule_groups() {
  return {
      {"kubernetes", "Kubernetes manifests", lint::kubernetes::rules()},
      {"environment", "variables of NCCL and torch, in a manifest, a file, a process or a job",
       lint::environment_rules()},
      {"prometheus", "Prometheus rules about GPUs", lint::prometheus_rules()},
      {"nvidia", "configurations of NVIDIA's device plugin and mig-parted", lint::nvidia_rules()},
      {"cluster", "a running Kubernetes cluster as a whole", lint::cluster_rules()},
      {"slurm", "Slurm's configuration and batch scripts", lint::slurm_rules()}};
}

std::vector<lint::Rule> all_lint_rules() {
  std::vector<lint::Rule> rules;
  for (const auto& group : lint_rule_groups()) {
    rules.insert(rules.end(), group.table.begin(), group.table.end());
  }
  return rules;
}

Result<std::string> read_whole(const std::string& path) {
  std::string text;
  bool too_long = false;
  const auto read = event::read_log_file(path, [&](std::string_view piece) {
    too_long = too_long || text.size() + piece.size() > largest_lint_file;
    if (!too_long) text += piece;
  });
  if (!read) return fail(read.error());
  if (too_long) return fail(ErrorCode::invalid_input, path + ": longer than 256 MiB");
  return text;
}

LintLook look_at(const std::vector<std::string>& paths, bool with_patch) {
  LintLook look;
  look.with_patch = with_patch;
  SlurmFiles slurm;
  for (const auto& path : paths) {
    std::error_code error;
    if (path == "-" || !std::filesystem::is_directory(path, error)) {
      look_at_one(path, true, look, slurm);
      continue;
    }
    for (const auto& file : files_below(path, look)) look_at_one(file, false, look, slurm);
  }
  if (!slurm.names.empty()) look_at_slurm(slurm, look);
  return look;
}

}  // namespace stoker::app
