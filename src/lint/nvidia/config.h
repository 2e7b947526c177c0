// Analyzer stage: configurations of NVIDIA's device plugin (and of GPU feature discovery, which reads the same file) and
// of mig-parted, as files and as entries of a ConfigMap.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/yaml/yaml.h"
#include "lint/rule.h"

namespace stoker::lint {

enum class NvidiaConfig { none, device_plugin, mig_parted, config_map };

// The rows of nvidia/rules.def.
RuleTable nvidia_rules();

// What `root` is, by its keys. A ConfigMap counts where one of its entries is one of the others.
NvidiaConfig nvidia_config_of(const yaml::Node& root);

// In the order of the file; nothing for what is none of these. Inside a ConfigMap columns are not known: 0.
std::vector<Finding> lint_nvidia_config(const yaml::Node& root, const std::string& file);

}  // namespace stoker::lint
