// Analyzer stage: TOML as containerd, CRI-O and NVIDIA's container runtime are configured in it. toml++ does the parsing;
// what comes out is the tree that YAML files are read into, so that a check does not care which it was.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "catalog/yaml/yaml.h"

namespace stoker::doctor {

// Tables are maps, arrays lists, and every value its text; strings are marked as quoted. invalid_input, with
// "file:line:column: message".
Result<yaml::Node> parse_toml(std::string_view text, const std::string& file);

// The value below `root` by names, or nullptr.
const yaml::Node* node_at(const yaml::Node& root, std::initializer_list<std::string_view> path);
// Its text; empty: there is none.
std::string text_at(const yaml::Node& root, std::initializer_list<std::string_view> path);

}  // namespace stoker::doctor
