#include "lint_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "event/log_file.h"
#include "lint/ignore.h"
#include "lint/kubernetes/lint.h"
#include "lint/kubernetes/rules.h"

namespace stoker::app {
namespace {

constexpr std::size_t largest_lint_file = std::size_t{256} << 20;

bool is_linted(const std::filesystem::path& path) {
  const auto extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
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

void look_at_one(const std::string& path, LintLook& look) {
  const auto text = read_whole(path);
  if (!text) {
    look.unread.push_back(text.error().describe());
    return;
  }
  const std::string name = path == "-" ? "standard input" : path;
  look.files.push_back(name);
  auto manifest = lint::kubernetes::lint_manifest(*text, name);
  look.ignored += manifest.ignored + lint::take_out_ignored(*text, manifest.findings);
  look.findings.insert(look.findings.end(), std::make_move_iterator(manifest.findings.begin()),
                       std::make_move_iterator(manifest.findings.end()));
}

}  // namespace

std::vector<lint::Rule> all_lint_rules() {
  std::vector<lint::Rule> rules;
  for (const auto table : {lint::kubernetes::rules()}) {
    rules.insert(rules.end(), table.begin(), table.end());
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

LintLook look_at(const std::vector<std::string>& paths) {
  LintLook look;
  for (const auto& path : paths) {
    std::error_code error;
    if (path == "-" || !std::filesystem::is_directory(path, error)) {
      look_at_one(path, look);
      continue;
    }
    for (const auto& file : files_below(path, look)) look_at_one(file, look);
  }
  return look;
}

}  // namespace stoker::app
