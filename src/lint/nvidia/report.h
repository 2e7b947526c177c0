// Analyzer stage: findings of one configuration, and the walk through its keys. Private to nvidia.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/nvidia/config.h"

namespace stoker::lint {

class NvidiaReport {
 public:
  explicit NvidiaReport(std::string file) : file_(std::move(file)) {}
  void add(std::string_view rule, const yaml::Node& at, std::string message);
  // What is added from here on stands in an entry of a ConfigMap whose text begins behind `line`.
  void set_offset(int line) { offset_ = line; }
  std::vector<Finding> take() { return std::move(found_); }

 private:
  std::string file_;
  int offset_ = -1;
  std::vector<Finding> found_;
};

using yaml::child_of;
// true, false, or neither.
bool is_yes_no(const yaml::Node& node);
bool is_yes(const yaml::Node* node);

void check_device_plugin(const yaml::Node& root, NvidiaReport& report);
void check_mig_parted(const yaml::Node& root, NvidiaReport& report);

}  // namespace stoker::lint
