// Analyzer stage: configurations that a cluster keeps as objects: those of the device plugin and mig-parted in ConfigMaps,
// rules of alerts in PrometheusRules.
#pragma once

#include <string_view>
#include <vector>

#include "catalog/yaml/view.h"
#include "model/finding.h"

namespace stoker::lint {

// What the rules of files say of `object`, whose JSON is `text`. The field of a finding in a ConfigMap is its entry and
// the line in it, "data[config.yaml]:12"; of an alert its expression.
std::vector<Finding> lint_config_object(std::string_view text, yaml::View object);

}  // namespace stoker::lint
