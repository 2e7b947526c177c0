// Analyzer stage: manifests that are still templates. Helm's {{ actions }} and Jinja's {% statements %} are taken out in
// place, so that what is left is YAML with every word where it stood.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/yaml/yaml.h"

namespace stoker::lint::kubernetes {

// An action alone on its line that may bring lines of its own (include, toYaml, ...).
struct Hole {
  int line = 0;     // from 1
  int column = -1;  // at which it writes them (nindent 8: 8), from 0; -1: not known
  // The key or list item that it writes them into, by line and column (from 0); line 0: not known.
  int owner_line = 0;
  int owner_column = 0;
};

struct TemplateText {
  std::string text;        // every word where it stood; an action inside a value has become '$'
  bool templated = false;  // there was an action
  std::vector<Hole> holes;
  std::vector<std::pair<int, int>> depths;  // from which line on how many conditions hold

  // How many conditions (if, with, range) stand around `line`.
  [[nodiscard]] int depth_at(int line) const;
  // The first line behind `first` that is less indented, so where the block of YAML that begins there has ended; one more
  // than there are lines: it goes on to the end.
  [[nodiscard]] int block_end(yaml::Place first) const;
};

// `text` without actions. Nothing is copied where there is none: `text` is empty then, and `templated` false.
TemplateText without_actions(std::string_view text);

// `text` with {{...}} where an action of a template stood.
std::string readable(std::string_view text);

// Is `value` filled in by somebody else later: an action, $NAME or ${NAME} of envsubst? $(NAME), which Kubernetes
// expands itself, is not meant.
bool is_filled_in_later(std::string_view value);

// Is `value` a note to the reader, as <your-token> or REPLACE_ME?
bool is_placeholder(std::string_view value);

}  // namespace stoker::lint::kubernetes
