// Analyzer stage: one check at work. It reads through an Exam, which remembers what could not be read: a check that
// did not see everything it asked for can find something, but it can't say that all is well.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.h"

namespace stoker::doctor {

class Exam {
 public:
  // Both outlive the Exam.
  Exam(const CheckRow& row, const Node& node, const Context& context);

  [[nodiscard]] const Context& context() const { return context_; }

  // nullopt: there is none, or it could not be read, which is then remembered.
  std::optional<std::string> read(std::string_view path, std::size_t limit = 1 << 20);
  // The same, trimmed of blanks and line breaks at its ends.
  std::optional<std::string> word(std::string_view path);
  std::optional<std::string> tail(std::string_view path, std::size_t bytes);
  std::optional<std::string> link(std::string_view path);
  std::optional<FileFacts> facts(std::string_view path);
  std::optional<DiskUse> disk(std::string_view path);
  bool exists(std::string_view path) { return facts(path).has_value(); }
  // Sorted; empty as well where there is no such folder.
  std::vector<std::string> list(std::string_view folder);
  // "<folder>/<name>" of each whose name ends in `end`.
  std::vector<std::string> files(std::string_view folder, std::string_view end);

  // What is so, in one sentence, and what that rests on.
  Finding& found(std::string message, std::vector<std::string> evidence = {});
  // The same, of a place in a file.
  Finding& found_at(FileLocation place, std::string message,
                    std::vector<std::string> evidence = {});
  // Nothing is wrong, and this was seen. Counts only if everything could be looked at and nothing was found.
  void fine(std::string seen) { fine_ = std::move(seen); }
  // The check has no object on this node.
  void not_here(std::string why) { not_here_ = std::move(why); }
  void not_looked(std::string why);
  [[nodiscard]] bool has_unread() const { return !unread_.empty(); }

  CheckResult result() &&;

 private:
  template <typename T>
  std::optional<T> keep(Result<T> told, std::string_view path);

  const CheckRow& row_;
  const Node& node_;
  const Context& context_;
  std::string fine_;
  std::string not_here_;
  std::vector<Finding> findings_;
  std::vector<std::string> unread_;
};

}  // namespace stoker::doctor
