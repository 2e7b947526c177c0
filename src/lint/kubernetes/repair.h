// Analyzer stage: what would repair a finding, in terms of the place where it would be written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/yaml/yaml.h"

namespace stoker::lint::kubernetes {

struct Repair {
  std::string_view rule;
  yaml::Place found;               // of the finding
  yaml::Place at;                  // of a key beside which the repair belongs
  std::vector<std::string> lines;  // in block style; indented as that key is
  std::string inside;              // in flow style, before that key; empty: not possible
};

}  // namespace stoker::lint::kubernetes
