// Analyzer stage: manifests that are still templates. Helm's {{ actions }} are taken out in place, so that what is left
// is YAML with every word where it stood.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker::lint::kubernetes {

struct TemplateText {
  std::string text;        // as long as what was given; an action inside a value has become '$'
  bool templated = false;  // there was an action
  // Lines (from 1) on which an action stood alone that may bring lines of its own (include, toYaml, ...).
  std::vector<int> holes;
  std::vector<std::pair<int, int>> depths;  // from which line on how many conditions hold

  // How many conditions (if, with, range) stand around `line`.
  [[nodiscard]] int depth_at(int line) const;
};

// `text` without actions. Nothing is copied where there is none: `text` is empty then, and `templated` false.
TemplateText without_actions(std::string_view text);

// Is `value` filled in by somebody else later: an action, $NAME or ${NAME} of envsubst? $(NAME), which Kubernetes
// expands itself, is not meant.
bool is_filled_in_later(std::string_view value);

// Is `value` a note to the reader, as <your-token> or REPLACE_ME?
bool is_placeholder(std::string_view value);

}  // namespace stoker::lint::kubernetes
