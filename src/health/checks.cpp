#include "health/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "catalog/yaml/yaml.h"
#include "embedded/checks_yaml.h"
#include "health/check_reader.h"
#include "health/port_checks.h"

namespace stoker::health {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 1000;
constexpr std::size_t most_mistakes = 50;  // of one file that are told

Finding refused(const std::string& file, const std::string& mistakes) {
  Finding finding;
  finding.rule = "checks-file";
  finding.severity = Severity::warning;
  finding.entity = {EntityKind::file, file};
  finding.location = FileLocation{.file = file};
  finding.message = "Nothing was taken from the checks file " + file;
  finding.cause = "It has a mistake, and a check that is half read could mislead";
  finding.action = Action::fix_config;
  finding.fix = "See the evidence; `stoker checks --folder DIR` reads a folder without an agent";
  finding.source = "docs/specs/checks.md";
  std::istringstream lines(mistakes);
  for (std::string line; std::getline(lines, line) && finding.evidence.size() < most_mistakes;) {
    finding.evidence.push_back(line);
  }
  return finding;
}

Result<std::vector<std::string>> files_of(const std::string& folder) {
  std::error_code code;
  std::vector<std::string> files;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    if (at->path().extension() == ".yaml") files.push_back(at->path().string());
    if (files.size() > most_files)
      return fail(ErrorCode::invalid_input, folder + " has more than 1000 files");
  }
  if (code == std::errc::no_such_file_or_directory) {
    return fail(ErrorCode::not_found, folder + " is not there");
  }
  if (code == std::errc::permission_denied)
    return fail(ErrorCode::no_permission, folder + " may not be listed");
  if (code) return fail(ErrorCode::io, folder + ": " + code.message());
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<Check> built_in_checks() {
  auto checks = read_checks(embedded::checks_yaml(), "checks.yaml (built in)");
  if (!checks) {  // a test reads the same bytes
    fmt::print(stderr, "{}\n", checks.error().message());
    std::abort();
  }
  std::ranges::move(port_checks(), std::back_inserter(*checks));
  return *std::move(checks);
}

Result<CheckSet> read_overrides(const std::string& folder, std::vector<Check> base) {
  const auto files = files_of(folder);
  if (!files) return fail(files.error());
  CheckSet set{.checks = std::move(base), .findings = {}};
  for (const std::string& file : *files) {
    const auto text = yaml::read_text(file);
    if (!text) {
      set.findings.push_back(refused(file, text.error().describe()));
      continue;
    }
    auto checks = read_checks(*text, file, set.checks);
    if (checks) {
      set.checks = *std::move(checks);
    } else {
      set.findings.push_back(refused(file, checks.error().message()));
    }
  }
  return set;
}

}  // namespace stoker::health
