#include "doctor/exam.h"

#include <algorithm>

#include "base/text.h"

namespace stoker::doctor {

Exam::Exam(const CheckRow& row, const Node& node, const Context& context)
    : row_(row), node_(node), context_(context) {}

template <typename T>
std::optional<T> Exam::keep(Result<T> told, std::string_view path) {
  if (told) return std::move(*told);
  if (told.error().code() != ErrorCode::not_found) {
    not_looked(std::string(path) + ": " + told.error().message());
  }
  return std::nullopt;
}

std::optional<std::string> Exam::read(std::string_view path, std::size_t limit) {
  return keep(node_.text(path, limit), path);
}

std::optional<std::string> Exam::word(std::string_view path) {
  auto text = read(path);
  if (text) text = std::string(trimmed(*text, " \t\n\r"));
  return text;
}

std::optional<std::string> Exam::tail(std::string_view path, std::size_t bytes) {
  return keep(node_.tail(path, bytes), path);
}

std::optional<std::string> Exam::link(std::string_view path) {
  return keep(node_.link(path), path);
}

std::optional<FileFacts> Exam::facts(std::string_view path) {
  return keep(node_.facts(path), path);
}

std::optional<DiskUse> Exam::disk(std::string_view path) { return keep(node_.disk(path), path); }

std::vector<std::string> Exam::list(std::string_view folder) {
  return keep(node_.names(folder), folder).value_or(std::vector<std::string>{});
}

std::vector<std::string> Exam::files(std::string_view folder, std::string_view end) {
  std::vector<std::string> paths;
  for (const auto& name : list(folder)) {
    if (!name.ends_with(end)) continue;
    std::string path(folder);
    path.append("/").append(name);
    paths.push_back(std::move(path));
  }
  return paths;
}

Finding& Exam::found(std::string message, std::vector<std::string> evidence) {
  Finding finding;
  finding.rule = row_.id;
  finding.severity = row_.severity;
  finding.entity = {EntityKind::node, context_.node_name};
  finding.message = std::move(message);
  finding.cause = row_.why;
  finding.fix = row_.fix;
  finding.source = row_.source;
  finding.evidence = std::move(evidence);
  return findings_.emplace_back(std::move(finding));
}

Finding& Exam::found_at(FileLocation place, std::string message,
                        std::vector<std::string> evidence) {
  Finding& finding = found(std::move(message), std::move(evidence));
  finding.location = std::move(place);
  return finding;
}

void Exam::not_looked(std::string why) {
  if (std::ranges::find(unread_, why) == unread_.end()) unread_.push_back(std::move(why));
}

CheckResult Exam::result() && {
  CheckResult result;
  result.row = &row_;
  result.findings = std::move(findings_);
  result.not_looked = std::move(unread_);
  if (!result.findings.empty()) {
    result.outcome = Outcome::found;
  } else if (!result.not_looked.empty()) {
    result.outcome = Outcome::not_looked;
  } else if (!not_here_.empty()) {
    result.outcome = Outcome::not_here;
    result.seen = std::move(not_here_);
  } else if (!fine_.empty()) {
    result.outcome = Outcome::fine;
    result.seen = std::move(fine_);
  } else {
    result.not_looked.emplace_back("the check came to no end");
  }
  return result;
}

}  // namespace stoker::doctor
