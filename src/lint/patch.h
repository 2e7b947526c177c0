// Analyzer stage: changes of a few lines of a file, as a text and as a patch that `patch -p1` and `git apply` take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker::lint {

struct LineEdit {
  int line = 1;  // from 1
  enum class Kind { insert_before, replace } kind = Kind::insert_before;
  std::string text;  // without a line break at its end
};

// `text` with `edits` made. Those of a line are made in the order given.
std::string with_edits(std::string_view text, const std::vector<LineEdit>& edits);

// The same as a unified diff of `file`, with three lines around each change; empty for no edits.
// https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
std::string unified_patch(std::string_view text, const std::vector<LineEdit>& edits,
                          std::string_view file);

}  // namespace stoker::lint
